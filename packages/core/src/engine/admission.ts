import { AppError } from '@perdure/ports'
import type { OnBusy } from '../targets/registration.ts'

export interface AdmissionOptions {
  readonly concurrency: number // maximum number of slots held at the same time
  readonly maxQueued: number // runs that may wait for a slot
}

export interface SlotRequest {
  readonly runId: string
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
  /** Position in the queue, starting at 1; `undefined` once granted. */
  position(): number | undefined
  /** Gives up the slot, granted or waiting, to the next run. Idempotent. */
  release(): void
}

export interface Admission {
  /** @throws AppError `agent-busy` when the lane is taken and `onBusy` is `reject`; `queue-full` */
  claim(entry: SlotRequest): Slot
  /** The runs of the lane: the holder first, then the waiting runs in queue order. */
  runsInLane(lane: string): readonly string[]
  /** Stops granting slots; waiting runs stay queued. */
  close(): void
}

interface Waiting {
  readonly entry: SlotRequest
  grant(): void
}

interface Lane {
  holder: string | undefined
  readonly waiting: Waiting[]
}

/** Grants slots to runs, in memory; first in, first out within a lane. */
export function createAdmission({ concurrency, maxQueued }: AdmissionOptions): Admission {
  const lanes = new Map<string, Lane>()
  const eligible: Waiting[] = []
  let executing = 0
  let queued = 0
  let isClosed = false

  const laneOf = (name: string): Lane => {
    const lane = lanes.get(name) ?? { holder: undefined, waiting: [] }
    lanes.set(name, lane)
    return lane
  }

  const grantNext = () => {
    while (!isClosed && executing < concurrency) {
      const next = eligible.shift()
      if (next === undefined) return
      executing++
      queued--
      next.grant()
    }
  }

  const enqueue = (waiting: Waiting) => {
    queued++
    const { lane: name, runId } = waiting.entry
    if (name === undefined) {
      eligible.push(waiting)
      return
    }
    const lane = laneOf(name)
    if (lane.holder === undefined) {
      lane.holder = runId
      eligible.push(waiting)
    } else lane.waiting.push(waiting)
  }

  const freeLane = (name: string | undefined) => {
    if (name === undefined) return
    const lane = laneOf(name)
    const next = lane.waiting.shift()
    lane.holder = next?.entry.runId
    if (next === undefined) lanes.delete(name)
    else eligible.push(next)
  }

  const dequeue = (waiting: Waiting) => {
    queued--
    const { lane } = waiting.entry
    if (remove(eligible, waiting)) freeLane(lane)
    else if (lane !== undefined) remove(laneOf(lane).waiting, waiting)
  }

  const positionOf = (waiting: Waiting): number => {
    const index = eligible.indexOf(waiting)
    if (index !== -1) return index + 1
    const { lane } = waiting.entry
    return lane === undefined ? 1 : laneOf(lane).waiting.indexOf(waiting) + 1
  }

  return {
    claim(entry) {
      refuse(entry)
      let state: 'waiting' | 'granted' | 'left' = 'waiting'
      let onGrant: (() => void) | undefined
      const waiting: Waiting = {
        entry,
        grant() {
          state = 'granted'
          onGrant?.()
        },
      }
      enqueue(waiting)
      grantNext()
      return {
        isGranted: () => state === 'granted',
        whenGranted(fn) {
          if (state === 'granted') fn()
          else onGrant = fn
        },
        position: () => (state === 'waiting' ? positionOf(waiting) : undefined),
        release() {
          const before = state
          state = 'left'
          if (before === 'waiting') dequeue(waiting)
          if (before !== 'granted') return
          executing--
          freeLane(entry.lane)
          grantNext()
        },
      }
    },
    runsInLane(name) {
      const lane = lanes.get(name)
      if (lane?.holder === undefined) return []
      return [lane.holder, ...lane.waiting.map(({ entry }) => entry.runId)]
    },
    close() {
      isClosed = true
    },
  }

  function refuse({ lane, onBusy, isAccepted = false }: SlotRequest): void {
    if (isAccepted) return
    const isBusy = lane !== undefined && lanes.get(lane)?.holder !== undefined
    if (isBusy && onBusy === 'reject') {
      throw new AppError('agent-busy', { retryAfterMs: 1_000, hint: 'try again when the current run has ended' })
    }
    const mustWait = isBusy || executing >= concurrency || isClosed
    if (mustWait && queued >= maxQueued) throw new AppError('queue-full', { retryAfterMs: 1_000 })
  }
}

function remove<T>(list: T[], item: T): boolean {
  const index = list.indexOf(item)
  if (index !== -1) list.splice(index, 1)
  return index !== -1
}
