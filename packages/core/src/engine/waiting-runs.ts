import { createLinkedList, type LinkedList, type ListNode } from '../collections/linked-list.ts'

/** A run that waits for a slot. */
export interface WaitingRun {
  readonly runId: string
  readonly subject: string
  readonly lane: string | undefined
  grant(): void
}

/**
 * The runs that wait for a slot: first in, first out within a subject and lane. Runs of one lane never execute together;
 * a lane is taken when a run of it is granted a slot.
 */
export interface WaitingRuns {
  size(): number
  sizeOf(subject: string): number
  add(run: WaitingRun): void
  remove(run: WaitingRun): void
  /** Position among the waiting runs of the subject and, behind the first run of a lane, of the subject and lane. */
  positionOf(run: WaitingRun): number
  /**
   * The next run whose lane is free, round-robin over subjects. Subjects with precedence go before all others; subjects
   * without permission are skipped.
   */
  next(rights: TurnRights): WaitingRun | undefined
  /** Takes the lane for a run, and moves its subject to the end of the round. */
  take(run: Pick<WaitingRun, 'runId' | 'subject' | 'lane'>): void
  freeLane(lane: string | undefined): void
  /** Whether a run of the lane executes or waits. */
  isLaneUsed(lane: string | undefined): boolean
  runsInLane(lane: string): readonly string[]
}

/** Which subjects may be granted a slot now. */
export interface TurnRights {
  isPermitted(subject: string): boolean
  hasPrecedence(subject: string): boolean
}

interface Subject {
  waiting: number
  /** Runs that may be next: those without a lane, and the first of each lane. */
  readonly candidates: LinkedList<Entry>
}

interface Lane {
  holder: string | undefined
  readonly bySubject: Map<string, LinkedList<Entry>>
}

interface Entry {
  readonly run: WaitingRun
  candidate?: ListNode<Entry> | undefined
  inLane?: ListNode<Entry> | undefined
}

export function createWaitingRuns(): WaitingRuns {
  const entries = new Map<WaitingRun, Entry>()
  /** The subjects with waiting runs, in the order of their turns. */
  const round = new Map<string, Subject>()
  const lanes = new Map<string, Lane>()

  const laneOf = (name: string): Lane => {
    const lane = lanes.get(name) ?? { holder: undefined, bySubject: new Map<string, LinkedList<Entry>>() }
    lanes.set(name, lane)
    return lane
  }

  const isLaneFree = (name: string | undefined) => name === undefined || lanes.get(name)?.holder === undefined

  const dropIfUnused = (name: string, { holder, bySubject }: Lane) => {
    if (holder === undefined && bySubject.size === 0) lanes.delete(name)
  }

  const addToLane = (name: string, entry: Entry): boolean => {
    const { bySubject } = laneOf(name)
    const inLane = bySubject.get(entry.run.subject) ?? createLinkedList<Entry>()
    bySubject.set(entry.run.subject, inLane)
    entry.inLane = inLane.push(entry)
    return inLane.size === 1
  }

  /** Removes the entry from its lane. @returns the next entry of the same subject, if this entry was its first */
  const removeFromLane = (name: string, { run, inLane, candidate }: Entry): Entry | undefined => {
    const lane = laneOf(name)
    const queue = lane.bySubject.get(run.subject)
    if (queue === undefined || inLane === undefined) return undefined
    queue.remove(inLane)
    if (queue.size === 0) lane.bySubject.delete(run.subject)
    dropIfUnused(name, lane)
    return candidate === undefined ? undefined : queue.first?.item
  }

  const firstFree = ({ candidates }: Subject): WaitingRun | undefined => {
    for (let node = candidates.first; node !== undefined; node = node.next) {
      if (isLaneFree(node.item.run.lane)) return node.item.run
    }
    return undefined
  }

  return {
    size: () => entries.size,
    sizeOf: (subject) => round.get(subject)?.waiting ?? 0,
    add(run) {
      const entry: Entry = { run }
      const subject = round.get(run.subject) ?? { waiting: 0, candidates: createLinkedList<Entry>() }
      round.set(run.subject, subject)
      entries.set(run, entry)
      subject.waiting++
      if (run.lane === undefined || addToLane(run.lane, entry)) entry.candidate = subject.candidates.push(entry)
    },
    remove(run) {
      const entry = entries.get(run)
      const subject = round.get(run.subject)
      if (entry === undefined || subject === undefined) return
      entries.delete(run)
      subject.waiting--
      const follower = run.lane === undefined ? undefined : removeFromLane(run.lane, entry)
      if (entry.candidate !== undefined) subject.candidates.remove(entry.candidate)
      if (follower !== undefined) follower.candidate = subject.candidates.push(follower)
      if (subject.waiting === 0) round.delete(run.subject)
    },
    positionOf(run) {
      const { candidate, inLane } = entries.get(run) ?? {}
      if (candidate !== undefined) return round.get(run.subject)?.candidates.positionOf(candidate) ?? 1
      const queue = run.lane === undefined ? undefined : lanes.get(run.lane)?.bySubject.get(run.subject)
      return inLane === undefined ? 1 : (queue?.positionOf(inLane) ?? 1)
    },
    next({ isPermitted, hasPrecedence }) {
      let other: WaitingRun | undefined
      for (const [name, subject] of round) {
        const isFirst = hasPrecedence(name)
        if (!isPermitted(name) || (!isFirst && other !== undefined)) continue
        const run = firstFree(subject)
        if (run !== undefined && isFirst) return run
        other ??= run
      }
      return other
    },
    take({ runId, subject: name, lane }) {
      if (lane !== undefined) laneOf(lane).holder = runId
      const subject = round.get(name)
      if (subject === undefined) return
      round.delete(name)
      round.set(name, subject)
    },
    freeLane(name) {
      if (name === undefined) return
      const lane = laneOf(name)
      lane.holder = undefined
      dropIfUnused(name, lane)
    },
    isLaneUsed: (name) => name !== undefined && lanes.has(name),
    runsInLane(name) {
      const { holder, bySubject } = lanes.get(name) ?? { bySubject: new Map<string, LinkedList<Entry>>() }
      const waiting = [...bySubject.values()].flatMap(({ first }) => runIdsFrom(first))
      return holder === undefined ? waiting : [holder, ...waiting]
    },
  }
}

function runIdsFrom(first: ListNode<Entry> | undefined): readonly string[] {
  const ids: string[] = []
  for (let node = first; node !== undefined; node = node.next) ids.push(node.item.run.runId)
  return ids
}
