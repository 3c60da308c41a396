import {
  type Clock,
  type Conflict,
  type EventPhase,
  isStorageBusy,
  type NewEvent,
  perdureError,
  type RunRecord,
  type UnitOfWork,
  type Write,
} from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { runEvent } from '../runs/run-events.ts'
import { checkedPayload, checkPhase } from './checked-event.ts'
import type { EventCollector, EventSource } from './event-collector.ts'
import { handledRejection } from './handled-rejection.ts'
import {
  batchLength,
  type Entry,
  isEmitted,
  join,
  lengthWithin,
  merge,
  type Pending,
  toPending,
  toWrites,
} from './journal-entry.ts'

export interface JournalDeps extends RetryDeps {
  readonly unitOfWork: UnitOfWork
  readonly collector: EventCollector
  readonly clock: Clock
  readonly maxEventBytes: number
}

/** Commits the events and durable calls of one attempt, in order. Nothing else writes them. */
export interface Journal {
  /**
   * Resolves when the event is durable; callers need not await it.
   *
   * @throws PerdureError immediately, like `RunContext.emit`
   */
  emit(type: string, payload: unknown, phase?: EventPhase): Promise<void>
  /** Checks an event without emitting it. @throws PerdureError `validation-failed`, like `emit` */
  check(type: string, payload: unknown, phase?: EventPhase): void
  /** Resolves when the entry is durable. Rejects with `run-not-active` once the attempt is over. */
  record(entry: Entry): Promise<void>
  /** Like `record`, but in a separate commit; resolves with the conflict of that commit, if any. */
  recordAlone(entry: Entry): Promise<Conflict | undefined>
  /** Waits until everything recorded so far is durable. */
  flush(): Promise<void>
  /** Waits for the commit in flight, then returns the entries that are not written yet. Rejects further entries. */
  close(): Promise<Unwritten>
  isClosed(): boolean
  /** Whether no entry waits to be written, so that no code waits for a write. */
  isIdle(): boolean
  /** The opening events, until they are in the log. */
  opening(): readonly NewEvent[]
}

/** Events that precede everything that an attempt records, and writes for the commit that stores them. */
export interface Opening {
  readonly events: readonly NewEvent[]
  readonly writes: readonly Write[]
}

export interface Unwritten {
  /** The opening events, unless they are in the log. */
  readonly opening: readonly NewEvent[]
  readonly events: readonly NewEvent[]
  /** Resolves or rejects the promises of the unwritten entries. */
  settle(isWritten: boolean): void
}

/**
 * `idle`: no entry waits. `due`: the entries of this tick join one commit. `collected`: the next group of the collector
 * takes the events. `writing`: a commit with entries of the run is in progress.
 */
type State = 'idle' | 'due' | 'collected' | 'writing'

/**
 * Entries recorded while a commit is in flight share the next commit; on a busy server, pieces of one text emitted
 * meanwhile become one event. Every commit is fenced by the attempt and the execution, so a run that has ended, was
 * started again or was resumed accepts no entry.
 *
 * @param opening written in the first commit
 */
export function createJournal(deps: JournalDeps, run: RunRecord, opening?: Opening): Journal {
  const { unitOfWork, collector, clock, maxEventBytes } = deps
  const { promise: closing, resolve: endPauses } = Promise.withResolvers<void>()
  const fence = { runId: run.id, attempt: run.attempt, execution: run.execution }
  let state: State = 'idle'
  let pending: Pending[] = []
  let taken: readonly Pending[] = []
  let idle: PromiseWithResolvers<void> | undefined
  let isClosed = false
  let unopened = opening

  const whenIdle = async () => {
    if (state === 'idle') return
    idle ??= Promise.withResolvers()
    await idle.promise
  }

  /** Entries that a busy storage refuses are written later, at the latest in the commit that ends the attempt. */
  const refuse = (batch: readonly Pending[], error: unknown) => {
    if (isStorageBusy(error)) pending = [...batch, ...pending]
    else for (const one of batch) one.reject(error)
  }

  const source: EventSource = {
    ...fence,
    take(room) {
      taken = pending.splice(0, lengthWithin(pending, room))
      if (taken.length > 0) state = 'writing'
      return taken.flatMap(({ events }) => events)
    },
    settle(result) {
      if ('error' in result) refuse(taken, result.error)
      else for (const one of taken) result.isStored ? one.resolve() : one.reject(notActive())
      taken = []
      next()
    },
  }

  const becomeIdle = () => {
    state = 'idle'
    idle?.resolve()
    idle = undefined
  }

  const next = () => {
    if (pending.length === 0 || isClosed) return becomeIdle()
    if (unopened === undefined && pending.every(isEmitted)) {
      state = 'collected'
      return collector.add(source)
    }
    state = 'writing'
    void writeBatch(pending.splice(0, batchLength(pending))).then(next)
  }

  const nextSoon = () => {
    state = 'due'
    void Promise.resolve().then(next)
  }

  const writeBatch = async (batch: readonly Pending[]) => {
    const writes: readonly Write[] = [
      { type: 'run.fence', ...fence },
      ...(unopened === undefined ? [] : toWrites(unopened)),
      ...batch.flatMap(toWrites),
    ]
    try {
      const outcome = await retryTransient(deps, () => unitOfWork.commit(writes), {
        // A commit on a full disk is not retried: the call rejects with `storage-full`, and the code may continue
        // without the record.
        ...{ mayRetry: isStorageBusy, interrupt: closing, shouldStop: () => isClosed },
      })
      if (outcome.committed) unopened = undefined
      for (const one of batch) {
        if (outcome.committed) one.resolve()
        else if (one.isAlone && outcome.index > 0) one.resolve(outcome.conflict)
        else one.reject(notActive())
      }
    } catch (error) {
      refuse(batch, error)
    }
  }

  const enqueue = (entry: Entry, isAlone: boolean): Promise<Conflict | undefined> => {
    if (state === 'idle') nextSoon()
    const newest = pending.at(-1)
    if (newest !== undefined && !isAlone && join(newest, entry)) return newest.durable
    const one = toPending(entry, isAlone)
    pending.push(one)
    if (state === 'collected' && !isEmitted(one)) {
      // A durable call does not wait for the next group.
      collector.remove(source)
      nextSoon()
    }
    return one.durable
  }

  const record = (entry: Entry) =>
    (isClosed ? handledRejection(notActive()) : enqueue(entry, false)) as Promise<undefined>

  /** Merges the event only while earlier ones wait for a busy storage: otherwise each piece is an event of its own. */
  const emitEvent = (event: NewEvent): Promise<undefined> => {
    const isWaiting = state === 'collected' || state === 'writing'
    const newest = isWaiting && collector.isCrowded() ? pending.at(-1) : undefined
    if (newest !== undefined && merge(newest, event, maxEventBytes)) return newest.durable as Promise<undefined>
    return record({ events: [event] })
  }

  return {
    record,
    recordAlone: (entry) => (isClosed ? handledRejection(notActive()) : enqueue(entry, true)),
    isClosed: () => isClosed,
    check(type, payload, phase) {
      checkPhase(phase)
      checkedPayload(type, payload, maxEventBytes)
    },
    isIdle: () => state === 'idle',
    opening: () => unopened?.events ?? [],
    emit(type, payload, phase) {
      if (isClosed) throw notActive(`the event ${type}`)
      checkPhase(phase)
      const text = checkedPayload(type, payload, maxEventBytes)
      return emitEvent(runEvent(run, { type, payload: text, phase, at: clock.now() }))
    },
    flush: whenIdle,
    async close() {
      isClosed = true
      endPauses()
      if (state === 'collected') {
        collector.remove(source)
        becomeIdle()
      }
      await whenIdle()
      const rest = pending
      pending = []
      return {
        opening: unopened?.events ?? [],
        events: rest.filter(({ writes }) => writes.length === 0).flatMap(({ events }) => events),
        settle(isWritten) {
          for (const one of rest) {
            if (isWritten && one.writes.length === 0) one.resolve()
            else one.reject(notActive())
          }
        },
      }
    },
  }
}

export const AWAIT_HINT = 'await every durable call and every emit before the code of the run returns'

const notActive = (what = 'what its code still did') =>
  perdureError('run-not-active', { message: `the run has ended; ${what} was not recorded`, hint: AWAIT_HINT })
