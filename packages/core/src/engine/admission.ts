import { AppError } from '@perdure/ports'
import type { OnBusy } from '../targets/registration.ts'
import { createWaitingRuns, type TurnRights, type WaitingRun } from './waiting-runs.ts'

export interface AdmissionOptions {
  readonly concurrency: number // maximum number of slots held at the same time
  readonly maxQueued: number // runs that may wait for a slot
  readonly maxShare?: number | undefined // part of the slots that a subject may hold while others wait; 0.5 when missing
}

export interface SlotRequest {
  readonly runId: string
  /** Owner of the run. Slots are shared fairly between subjects. */
  readonly subject: string
  /** Runs of one lane never execute together; without a lane only the process-wide limit counts. */
  readonly lane: string | undefined
  readonly onBusy: OnBusy
  /** Whether the run was accepted earlier. Its claim is then never rejected, even when the queue is full. */
  readonly isAccepted?: boolean
}

/** A run's claim to execute, granted or waiting. */
export interface Slot {
  isGranted(): boolean
  /** Calls `fn` once, as soon as the slot is granted; immediately if it already is. */
  whenGranted(fn: () => void): void
  /** Position among the waiting runs of the same subject, starting at 1; `undefined` once granted. */
  position(): number | undefined
  /** Gives up the slot, granted or waiting, to the next run. Idempotent. */
  release(): void
}

export interface Admission {
  /** @throws AppError `agent-busy` when the lane is taken and `onBusy` is `reject`; `queue-full` */
  claim(entry: SlotRequest): Slot
  /** The runs of the lane: the holder first, then the waiting runs, in queue order for each subject. */
  runsInLane(lane: string): readonly string[]
  /** Registers a subject that uses the server but has no live run. */
  addSubject(subject: string): void
  /** Stops granting slots; waiting runs stay queued. */
  close(): void
}

const DEFAULT_SHARE = 0.5
/** This part of the slots, and of the queue, is kept for subjects that hold less than that. */
const RESERVED_PART = 1 / 16

/**
 * Grants slots to runs, in memory; first in, first out within a subject and lane, round-robin over subjects.
 *
 * A subject that holds less than its share goes before a subject that holds its share or more. Executing runs are never
 * preempted, so a subject that arrives when every slot is held waits until a run ends. To avoid that wait, the last free
 * slots are granted only to subjects that hold few slots, as soon as two subjects use the server.
 */
export function createAdmission({ concurrency, maxQueued, maxShare = DEFAULT_SHARE }: AdmissionOptions): Admission {
  const share = Math.max(1, Math.floor(concurrency * maxShare))
  const reservedSlots = Math.min(concurrency - share, Math.ceil(concurrency * RESERVED_PART))
  const reservedQueue = maxShare === 1 ? 0 : Math.ceil(maxQueued * RESERVED_PART)
  const waiting = createWaitingRuns()
  const held = new Map<string, number>()
  let executing = 0
  let onlySubject: string | undefined
  let isShared = false
  let isClosed = false

  const addSubject = (subject: string) => {
    onlySubject ??= subject
    isShared ||= subject !== onlySubject
  }

  const heldBy = (subject: string) => held.get(subject) ?? 0
  const rights: TurnRights = {
    hasPrecedence: (subject) => heldBy(subject) < share,
    isPermitted: (subject) => !isShared || concurrency - executing > reservedSlots || heldBy(subject) < reservedSlots,
  }
  const hasFreeSlot = () => !isClosed && executing < concurrency

  const take = (run: Pick<WaitingRun, 'runId' | 'subject' | 'lane'>) => {
    executing++
    held.set(run.subject, heldBy(run.subject) + 1)
    waiting.take(run)
  }

  const giveBack = ({ subject, lane }: SlotRequest) => {
    executing--
    const left = heldBy(subject) - 1
    if (left === 0) held.delete(subject)
    else held.set(subject, left)
    waiting.freeLane(lane)
  }

  const grantNext = () => {
    while (hasFreeSlot()) {
      const next = waiting.next(rights)
      if (next === undefined) return
      waiting.remove(next)
      take(next)
      next.grant()
    }
  }

  /** Whether a new run gets a slot without waiting. No waiting run can take this slot. */
  const isNext = ({ subject, lane }: SlotRequest) =>
    hasFreeSlot() && !waiting.isLaneUsed(lane) && rights.isPermitted(subject)

  return {
    claim(entry) {
      addSubject(entry.subject)
      refuse(entry)
      let state: 'waiting' | 'granted' | 'left' = 'waiting'
      let onGrant: (() => void) | undefined
      const run: WaitingRun = {
        runId: entry.runId,
        subject: entry.subject,
        lane: entry.lane,
        grant() {
          state = 'granted'
          onGrant?.()
        },
      }
      if (isNext(entry)) {
        take(run)
        state = 'granted'
      } else {
        waiting.add(run)
        grantNext()
      }
      return {
        isGranted: () => state === 'granted',
        whenGranted(fn) {
          if (state === 'granted') fn()
          else onGrant = fn
        },
        position: () => (state === 'waiting' ? waiting.positionOf(run) : undefined),
        release() {
          const before = state
          state = 'left'
          if (before === 'waiting') waiting.remove(run)
          if (before !== 'granted') return
          giveBack(entry)
          grantNext()
        },
      }
    },
    runsInLane: waiting.runsInLane,
    addSubject,
    close() {
      isClosed = true
    },
  }

  function refuse(entry: SlotRequest): void {
    const { subject, lane, onBusy, isAccepted = false } = entry
    if (isAccepted) return
    if (onBusy === 'reject' && waiting.isLaneUsed(lane)) {
      throw new AppError('agent-busy', { retryAfterMs: 1_000, hint: 'try again when the current run has ended' })
    }
    if (isNext(entry) || waiting.size() < maxQueued) return
    const own = waiting.sizeOf(subject)
    if (own < reservedQueue && waiting.size() < 2 * maxQueued) return
    throw new AppError('queue-full', {
      retryAfterMs: 1_000,
      message: `the queue is full (runs.maxQueued is ${maxQueued}); the subject ${subject} has ${own} queued runs`,
      hint: 'retry when queued runs have started, abort queued runs, or raise runs.maxQueued',
    })
  }
}
