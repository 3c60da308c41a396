import {
  type Clock,
  type EpochMs,
  type LaneSlot,
  perdureError,
  plusMs,
  type Refusal,
  type TakenSlot,
  type Timers,
} from '@perdure/ports'
import type { OnBusy } from '../../targets/registration.ts'
import type { Lane } from './lane.ts'
import { createLaneSlots } from './lane-slots.ts'
import { createWaitingRuns, type TurnRights, type WaitingRun } from './waiting-runs.ts'

export interface AdmissionOptions {
  readonly concurrency: number // maximum number of slots held at the same time
  readonly maxQueued: number // runs that may wait for a slot
  readonly maxShare?: number | undefined // part of the slots that a subject may hold while others wait; 0.5 when missing
}

export interface AdmissionDeps {
  readonly clock: Clock
  readonly timers: Timers
  /** Whether runs may start now. After it became true, `recheck` grants the free slots. When missing, they always may. */
  readonly mayStart?: (() => boolean) | undefined
}

export interface SlotRequest {
  readonly runId: string
  /** Owner of the run. Slots are shared fairly between subjects. */
  readonly subject: string
  /** The run needs a free slot of each lane; without lanes, only the process-wide limit counts. */
  readonly lanes: readonly Lane[]
  /** From -100 to 100; 0 when missing. Each point counts as 10 seconds of waiting. */
  readonly priority?: number | undefined
  /** Since when the run waits; now when missing. */
  readonly waitingSince?: EpochMs | undefined
  readonly onBusy: OnBusy
  /** Whether the run was accepted earlier. Its claim is then never rejected, even when the queue is full. */
  readonly isAccepted?: boolean
}

/** A run's claim to execute, granted or waiting. */
export interface Slot {
  isGranted(): boolean
  /** Calls `fn` once, as soon as the slot is granted; immediately if it already is. */
  whenGranted(fn: () => void): void
  /** Position among the waiting runs of the same subject and lanes, starting at 1; `undefined` once granted. */
  position(): number | undefined
  /** The slots of lanes that a granted run takes in the commit that starts it. */
  laneSlots(startedAt: EpochMs): readonly LaneSlot[]
  /** Counts the run towards its rate limit. Call it when the start is committed. */
  started(startedAt: EpochMs): void
  /** Gives up the slot, granted or waiting, to the next run. Idempotent. */
  release(): void
}

const nothing = () => undefined

/** The slot of a run that waits for something other than a slot. */
export const NO_SLOT: Slot = {
  isGranted: () => false,
  whenGranted: nothing,
  position: nothing,
  laneSlots: () => [],
  started: nothing,
  release: nothing,
}

export interface Admission {
  /** @throws PerdureError `agent-busy` when a lane has no free slot and `onBusy` is `reject`; `queue-full` */
  claim(entry: SlotRequest): Slot
  /** The runs of the lane: those that hold a slot first, then the waiting runs in queue order. */
  runsInLane(lane: Lane): readonly string[]
  /** The runs that hold a slot of the lane. */
  holdersOf(lane: Lane): readonly string[]
  /** Registers a subject that uses the server but has no live run. */
  addSubject(subject: string): void
  /** How many more runs could hold a slot now. */
  freeSlots(): number
  /** Registers slots of lanes that earlier runs took and that are not free yet. */
  restore(slots: readonly TakenSlot[]): void
  /** Grants free slots to waiting runs, for the time after which runs may start again. */
  recheck(): void
  /** Grants no slots until `work` is done, so that the order of the claims that it makes does not matter. */
  holdDuring(work: () => Promise<void>): Promise<void>
  /** Stops granting slots; waiting runs stay queued. */
  close(): void
}

export const agentBusy = (): Refusal =>
  perdureError('agent-busy', { retryAfter: 1_000, hint: 'try again when the current run has ended' })

const DEFAULT_SHARE = 0.5

/** This part of the slots, and of the queue, is kept for subjects that hold less than that. */
const RESERVED_PART = 1 / 16

/** The clock may be changed, so a slot of a rate limit is checked at least this often while runs wait for it. */
const LONGEST_ALARM_MS = 30_000

/** How long a run must wait to rank as high as a new run with a priority that is higher by one. */
const MS_PER_PRIORITY = 10_000

/**
 * Grants slots to runs, in memory: first in, first out within a subject unless priorities differ, round-robin over
 * subjects.
 *
 * A subject that holds less than its share goes before a subject that holds its share or more. Executing runs are never
 * preempted, so a subject that arrives when every slot is held waits until a run ends. To avoid that wait, the last free
 * slots are granted only to subjects that hold few slots, as soon as two subjects use the server.
 */
export function createAdmission(options: AdmissionOptions, { clock, timers, mayStart }: AdmissionDeps): Admission {
  const { concurrency, maxQueued, maxShare = DEFAULT_SHARE } = options
  const share = Math.max(1, Math.floor(concurrency * maxShare))
  const reservedSlots = Math.min(concurrency - share, Math.ceil(concurrency * RESERVED_PART))
  const reservedQueue = maxShare === 1 ? 0 : Math.ceil(maxQueued * RESERVED_PART)
  const lanes = createLaneSlots(() => clock.now())
  /** The timers that free slots of rate limits on which runs wait, by lane. */
  const alarms = new Map<string, () => void>()
  const waiting = createWaitingRuns({ hasFree: lanes.hasFree, onBlocked: (lane) => setAlarm(lane) })
  const held = new Map<string, number>()
  let executing = 0
  let onlySubject: string | undefined
  let isShared = false
  let isClosed = false
  let isHeld = false

  const setAlarm = (lane: Lane) => {
    const freeAt = lanes.nextFreeAt(lane)
    if (freeAt === undefined || isClosed || alarms.has(lane.name)) return
    const ring = () => {
      alarms.delete(lane.name)
      waiting.recheck(lane)
      grantNext()
    }
    alarms.set(lane.name, timers.after(Math.min(LONGEST_ALARM_MS, Math.max(1, freeAt - clock.now())), ring))
  }

  const addSubject = (subject: string) => {
    onlySubject ??= subject
    isShared ||= subject !== onlySubject
  }
  const heldBy = (subject: string) => held.get(subject) ?? 0
  const rights: TurnRights = {
    hasPrecedence: (subject) => heldBy(subject) < share,
    isPermitted: (subject) => !isShared || concurrency - executing > reservedSlots || heldBy(subject) < reservedSlots,
  }

  const grantsSlots = () => !isClosed && !isHeld && mayStart?.() !== false
  const hasFreeSlot = () => executing < concurrency && grantsSlots()

  /** @returns the numbers of the slots that the run takes in its lanes */
  const take = ({ runId, subject, lanes: needed }: WaitingRun): readonly number[] => {
    executing++
    held.set(subject, heldBy(subject) + 1)
    waiting.endTurn(subject)
    return needed.map((lane) => lanes.take(lane, runId))
  }

  const giveBack = ({ subject }: SlotRequest) => {
    executing--
    const left = heldBy(subject) - 1
    if (left === 0) held.delete(subject)
    else held.set(subject, left)
  }

  const grantNext = () => {
    while (hasFreeSlot()) {
      const next = waiting.next(rights)
      if (next === undefined) return
      waiting.remove(next)
      next.grant()
    }
  }

  /** Whether a new run gets a slot without waiting. No waiting run can take this slot. */
  const isNext = ({ subject, lanes: needed }: SlotRequest) =>
    hasFreeSlot() &&
    rights.isPermitted(subject) &&
    needed.every((lane) => lanes.hasFree(lane) && !waiting.isAwaited(lane))

  /** Keeps the order of the claims when the clock is set back. */
  const startedAt = clock.now() - clock.monotonicMs()
  const rankOf = ({ priority = 0, waitingSince }: SlotRequest) =>
    (waitingSince ?? startedAt + clock.monotonicMs()) - priority * MS_PER_PRIORITY

  return {
    claim(entry) {
      addSubject(entry.subject)
      refuse(entry)
      let state: 'waiting' | 'granted' | 'left' = 'waiting'
      let onGrant: (() => void) | undefined
      let taken: readonly number[] = []
      let isStarted = false
      const { runId, subject, lanes: needed } = entry
      const run: WaitingRun = {
        ...{ runId, subject, lanes: needed, rank: rankOf(entry) },
        grant() {
          taken = take(run)
          state = 'granted'
          onGrant?.()
        },
      }
      const freeLanes = () => {
        for (const [index, lane] of needed.entries()) {
          if (lane.periodMs !== undefined && isStarted) continue
          lanes.free(lane, taken[index] as number)
          waiting.recheck(lane)
        }
      }

      if (isNext(entry)) run.grant()
      else {
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
        laneSlots: (startedAt) =>
          needed.map(({ name, periodMs }, index) => ({
            ...{ lane: name, slot: taken[index] as number },
            ...(periodMs === undefined ? {} : { freeAt: plusMs(startedAt, periodMs) }),
          })),
        started(startedAt) {
          isStarted = true
          for (const [index, lane] of needed.entries()) {
            if (lane.periodMs === undefined) continue
            lanes.keepUntil(lane, taken[index] as number, plusMs(startedAt, lane.periodMs))
            // Runs that wait for this lane could not set an alarm before the time was known.
            waiting.recheck(lane)
          }
          grantNext()
        },
        release() {
          const before = state
          state = 'left'
          if (before === 'waiting') waiting.remove(run)
          if (before !== 'granted') return
          giveBack(entry)
          freeLanes()
          grantNext()
        },
      }
    },
    runsInLane: (lane) => [...lanes.holders(lane), ...waiting.runsIn(lane)],
    holdersOf: lanes.holders,
    addSubject,
    freeSlots: () => (grantsSlots() ? concurrency - executing : 0),
    recheck: grantNext,
    restore: lanes.restore,
    async holdDuring(work) {
      isHeld = true
      try {
        await work()
      } finally {
        isHeld = false
        grantNext()
      }
    },
    close() {
      isClosed = true
      for (const cancel of alarms.values()) cancel()
      alarms.clear()
    },
  }

  function refuse(entry: SlotRequest): void {
    const { subject, onBusy, isAccepted = false } = entry
    if (isAccepted) return
    const limited = entry.lanes.filter(({ periodMs }) => periodMs === undefined)
    if (onBusy === 'reject' && limited.some((lane) => !lanes.hasFree(lane) || waiting.isAwaited(lane))) {
      throw agentBusy()
    }
    if (isNext(entry) || waiting.size() < maxQueued) return
    const own = waiting.sizeOf(subject)
    if (own < reservedQueue && waiting.size() < 2 * maxQueued) return
    throw perdureError('queue-full', {
      retryAfter: 1_000,
      message: `the queue is full (runs.maxQueued is ${maxQueued}); the subject ${subject} has ${own} queued runs`,
      hint: 'retry when queued runs have started, abort queued runs, or raise runs.maxQueued',
    })
  }
}
