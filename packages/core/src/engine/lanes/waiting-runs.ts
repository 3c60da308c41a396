import { createHeap, type Heap } from '../../collections/heap.ts'
import type { Lane } from './lane.ts'

/** A run that waits for a slot. */
export interface WaitingRun {
  readonly runId: string
  readonly subject: string
  readonly lanes: readonly Lane[]
  /** Among the runs of a subject, the lowest rank goes first. */
  readonly rank: number
  grant(): void
}

/**
 * The runs that wait for a slot. Subjects take turns. Among the runs of one subject whose lanes all have a free slot,
 * the lowest rank goes first; of equal ranks, the run that was added first.
 */
export interface WaitingRuns {
  size(): number
  sizeOf(subject: string): number
  add(run: WaitingRun): void
  remove(run: WaitingRun): void
  /** Position among the waiting runs of the same subject and lanes, starting at 1. */
  positionOf(run: WaitingRun): number
  /**
   * The next run whose lanes all have a free slot, round-robin over subjects. Subjects with precedence go before all
   * others; subjects without permission are skipped.
   */
  next(rights: TurnRights): WaitingRun | undefined
  /** Moves the subject to the end of the round. */
  endTurn(subject: string): void
  /** Considers the runs of this lane again, because one of its slots may be free. */
  recheck(lane: Pick<Lane, 'name'>): void
  /** Whether a run waits that belongs to the lane. */
  isAwaited(lane: Pick<Lane, 'name'>): boolean
  /** The waiting runs of the lane, in the order of their ranks. */
  runsIn(lane: Pick<Lane, 'name'>): readonly string[]
}

/** Which subjects may be granted a slot now. */
export interface TurnRights {
  isPermitted(subject: string): boolean
  hasPrecedence(subject: string): boolean
}

interface WaitingRunsOptions {
  readonly hasFree: (lane: Lane) => boolean
  /** Called when runs wait for a slot of this lane. `recheck` must follow when one may be free. */
  readonly onBlocked: (lane: Lane) => void
}

interface Entry {
  readonly run: WaitingRun
  readonly number: number
  readonly group: Group
}

/** The waiting runs of one subject with the same lanes. Only the first of them can be next. */
interface Group {
  readonly name: string
  readonly subject: string
  readonly lanes: readonly Lane[]
  readonly entries: Heap<Entry>
  highestRank: number
  newest: Entry | undefined
}

interface Subject {
  waiting: number
  readonly groups: Map<string, Group>
  /** The groups that are not known to wait for a slot of a lane. */
  readonly ready: Heap<Group>
}

const precedes = (one: Entry, other: Entry): boolean =>
  one.run.rank === other.run.rank ? one.number < other.number : one.run.rank < other.run.rank

const firstPrecedes = (one: Group, other: Group): boolean => precedes(firstOf(one), firstOf(other))

/** A group is removed from every collection before it becomes empty. */
const firstOf = ({ entries }: Group): Entry => entries.first as Entry

const nameOf = (lanes: readonly Lane[]) => (lanes.length === 0 ? '' : JSON.stringify(lanes.map(({ name }) => name)))

export function createWaitingRuns({ hasFree, onBlocked }: WaitingRunsOptions): WaitingRuns {
  const entries = new Map<WaitingRun, Entry>()
  /** The subjects with waiting runs, in the order of their turns. */
  const round = new Map<string, Subject>()
  const groupsOfLane = new Map<string, Set<Group>>()
  const blockedOnLane = new Map<string, Set<Group>>()
  let added = 0

  const groupOf = (subject: Subject, { subject: name, lanes }: WaitingRun): Group => {
    const groupName = nameOf(lanes)
    const known = subject.groups.get(groupName)
    if (known !== undefined) return known
    const group: Group = {
      ...{ name: groupName, subject: name, lanes, entries: createHeap<Entry>(precedes) },
      ...{ highestRank: Number.NEGATIVE_INFINITY, newest: undefined },
    }
    subject.groups.set(groupName, group)
    for (const lane of lanes) addTo(groupsOfLane, lane.name, group)
    return group
  }

  /** Applies a change that may give the group another first entry. */
  const change = (subject: Subject, group: Group, apply: () => void) => {
    const wasReady = subject.ready.has(group)
    const isNew = group.entries.size === 0
    if (wasReady) subject.ready.remove(group)
    apply()
    if (group.entries.size > 0) {
      if (wasReady || isNew) subject.ready.add(group)
      return
    }
    subject.groups.delete(group.name)
    for (const { name } of group.lanes) {
      removeFrom(groupsOfLane, name, group)
      removeFrom(blockedOnLane, name, group)
    }
  }

  const firstReady = ({ ready }: Subject): WaitingRun | undefined => {
    for (let group = ready.first; group !== undefined; group = ready.first) {
      const full = group.lanes.find((lane) => !hasFree(lane))
      if (full === undefined) return firstOf(group).run
      ready.remove(group)
      addTo(blockedOnLane, full.name, group)
      onBlocked(full)
    }
    return undefined
  }

  return {
    size: () => entries.size,
    sizeOf: (subject) => round.get(subject)?.waiting ?? 0,
    add(run) {
      const subject = round.get(run.subject) ?? { waiting: 0, groups: new Map(), ready: createHeap(firstPrecedes) }
      const group = groupOf(subject, run)
      const entry: Entry = { run, number: added++, group }
      round.set(run.subject, subject)
      entries.set(run, entry)
      subject.waiting++
      change(subject, group, () => group.entries.add(entry))
      group.highestRank = Math.max(group.highestRank, run.rank)
      group.newest = entry
    },
    remove(run) {
      const entry = entries.get(run)
      const subject = round.get(run.subject)
      if (entry === undefined || subject === undefined) return
      entries.delete(run)
      subject.waiting--
      change(subject, entry.group, () => entry.group.entries.remove(entry))
      if (subject.waiting === 0) round.delete(run.subject)
    },
    positionOf(run) {
      const entry = entries.get(run)
      if (entry === undefined) return 1
      const { group } = entry
      if (entry === group.newest && run.rank === group.highestRank) return group.entries.size
      return group.entries.items().filter((other) => precedes(other, entry)).length + 1
    },
    next({ isPermitted, hasPrecedence }) {
      let other: WaitingRun | undefined
      for (const [name, subject] of round) {
        const isFirst = hasPrecedence(name)
        if (!isPermitted(name) || (!isFirst && other !== undefined)) continue
        const run = firstReady(subject)
        if (run !== undefined && isFirst) return run
        other ??= run
      }
      return other
    },
    endTurn(name) {
      const subject = round.get(name)
      if (subject === undefined) return
      round.delete(name)
      round.set(name, subject)
    },
    recheck({ name }) {
      for (const group of blockedOnLane.get(name) ?? []) round.get(group.subject)?.ready.add(group)
      blockedOnLane.delete(name)
    },
    isAwaited: ({ name }) => groupsOfLane.has(name),
    runsIn: ({ name }) =>
      [...(groupsOfLane.get(name) ?? [])]
        .flatMap((group) => group.entries.items())
        .sort((one, other) => (precedes(one, other) ? -1 : 1))
        .map(({ run }) => run.runId),
  }
}

function addTo(groups: Map<string, Set<Group>>, name: string, group: Group): void {
  const set = groups.get(name)
  if (set === undefined) groups.set(name, new Set([group]))
  else set.add(group)
}

function removeFrom(groups: Map<string, Set<Group>>, name: string, group: Group): void {
  const set = groups.get(name)
  set?.delete(group)
  if (set?.size === 0) groups.delete(name)
}
