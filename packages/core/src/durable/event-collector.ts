import { type Clock, isStorageBusy, isStorageError, type NewEvent, type UnitOfWork } from '@perdure/ports'
import { createBackoff, type RetryDeps } from '../concurrency/retry-transient.ts'

export interface EventCollectorDeps extends RetryDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
}

/** The result of a commit for one source. `isStored` is false if its run no longer executes. */
export type CollectedResult = { readonly isStored: boolean } | { readonly error: unknown }

/** An execution of a run, with events that wait for a commit. */
export interface EventSource {
  readonly runId: string
  readonly attempt: number
  readonly execution: number
  /**
   * Hands over the oldest events, as many as fit into `room`; empty if the next ones do not fit. At least one entry fits
   * into the room of an empty group.
   */
  take(room: number): readonly NewEvent[]
  /** Called once after each `take` that returned events. The source may add itself again. */
  settle(result: CollectedResult): void
}

/**
 * Commits the events of all executing runs, one group at a time: one transaction and one publication for all of them.
 * Events wait for the group in progress and, once groups of many runs take long, for a short time after it, so that a
 * busy server writes fewer and larger groups.
 */
export interface EventCollector {
  /** Lets the next group take the events of the source. A no-op if the source waits already. */
  add(source: EventSource): void
  /** Takes back a source that waits. */
  remove(source: EventSource): void
  /** Whether groups take long because many runs emit, so that fewer and larger events relieve the server. */
  isCrowded(): boolean
}

/** Upper limit for the events of a group, as `sizeOf` counts them. */
export const GROUP_SIZE = 256 * 1_024
/** What an event costs in addition to its payload. */
const EVENT_SIZE = 64

export const sizeOf = ({ payload }: NewEvent): number => EVENT_SIZE + payload.length

/** While groups take less than this on average, the next group begins at once. */
const FAST_MS = 2
const MAX_PAUSE_MS = 40
/** The pause grows by this many milliseconds with each millisecond of a group. */
const PAUSE_PER_MS = 4
/** A group with the events of fewer runs than this gains nothing from a pause, which only delays them. */
const CROWD = 16
const SAMPLE_WEIGHT = 1 / 4
const MAX_SAMPLE_MS = 50

interface Part {
  readonly source: EventSource
  readonly events: readonly NewEvent[]
}

export function createEventCollector(deps: EventCollectorDeps): EventCollector {
  const { unitOfWork, clock, timers } = deps
  const backoff = createBackoff(deps)
  const waiting = new Set<EventSource>()
  let work = Promise.withResolvers<void>()
  let meanMs = 0
  let newestGroup = 0
  let endedMs = Number.NEGATIVE_INFINITY

  const pause = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve))

  const nextPauseMs = () => (newestGroup < CROWD ? 0 : pauseAfter(meanMs))

  const takeGroup = (): readonly Part[] => {
    const group: Part[] = []
    let room = GROUP_SIZE
    for (const source of waiting) {
      const events = source.take(room)
      if (events.length === 0) break
      waiting.delete(source)
      group.push({ source, events })
      for (const event of events) room -= sizeOf(event)
    }
    return group
  }

  const store = async (group: readonly Part[]): Promise<void> => {
    const startedMs = clock.monotonicMs()
    try {
      const outcome = await unitOfWork.commit(group.map(toWrite))
      measure(startedMs)
      for (const [index, { source }] of group.entries()) {
        source.settle({ isStored: outcome.committed && outcome.counts[index] !== 0 })
      }
    } catch (error) {
      await refuse(group, error)
    }
  }

  const measure = (startedMs: number) => {
    backoff.reset()
    endedMs = clock.monotonicMs()
    meanMs += (Math.min(endedMs - startedMs, MAX_SAMPLE_MS) - meanMs) * SAMPLE_WEIGHT
  }

  /** An error that is not about the storage may be about the events of one run, and must not reach the others. */
  const refuse = async (group: readonly Part[], error: unknown): Promise<void> => {
    if (group.length > 1 && !isStorageError(error)) {
      for (const part of group) await store([part])
      return
    }
    for (const { source } of group) source.settle({ error })
    if (isStorageBusy(error)) await backoff.pause(error)
  }

  const storeNext = async () => {
    const restMs = endedMs + nextPauseMs() - clock.monotonicMs()
    if (restMs > 0) await pause(restMs)
    const group = takeGroup()
    newestGroup = group.length
    if (group.length > 0) await store(group)
  }

  /** Called once, so that no commit belongs to the run whose events caused it. */
  const serve = async () => {
    for (;;) {
      await work.promise
      work = Promise.withResolvers()
      while (waiting.size > 0) await storeNext()
    }
  }
  void serve()

  return {
    add(source) {
      waiting.add(source)
      work.resolve()
    },
    remove: (source) => void waiting.delete(source),
    isCrowded: () => nextPauseMs() > 0,
  }
}

const toWrite = ({ source: { runId, attempt, execution }, events }: Part) =>
  ({ type: 'run.emit', runId, attempt, execution, events }) as const

const pauseAfter = (meanMs: number): number =>
  meanMs < FAST_MS ? 0 : Math.min(MAX_PAUSE_MS, (meanMs - FAST_MS) * PAUSE_PER_MS)
