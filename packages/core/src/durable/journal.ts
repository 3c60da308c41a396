import {
  type Clock,
  type CommitOutcome,
  type Conflict,
  type EventPhase,
  isStorageBusy,
  type NewEvent,
  perdureError,
  type RunRecord,
  toJsonText,
  type UnitOfWork,
  type Write,
} from '@perdure/ports'
import { isAgentEventType } from '@perdure/protocol'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { isLongerThan } from '../json/json-members.ts'
import { runEvent } from '../runs/run-events.ts'
import { handledRejection } from './handled-rejection.ts'

export interface JournalDeps extends RetryDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly maxEventBytes: number
}

/** Writes and events of a running attempt that are committed together. */
export interface Entry {
  readonly writes?: readonly Write[]
  readonly events?: readonly NewEvent[]
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

interface Pending {
  readonly writes: readonly Write[]
  readonly events: NewEvent[]
  /** How much of a commit the entry takes up. */
  weight: number
  readonly isAlone: boolean
  readonly durable: Promise<Conflict | undefined>
  resolve(conflict?: Conflict): void
  reject(error: unknown): void
}

/**
 * Maximum weight of the entries per commit, so that code that records without awaiting does not block the storage. The
 * words of a model are the lightest: a commit stores 512 of them, or 128 entries with writes.
 */
const WEIGHT_PER_COMMIT = 512
const WEIGHT_OF_WRITES = 4
/** A payload of this length weighs as much as the row of an event. */
const WEIGHT_CHARACTERS = 1_024
/** The texts of entries with writes: about 4 Mi characters per commit. */
const WRITTEN_CHARACTERS = 8_192

/**
 * Entries recorded while a commit is in flight share the next commit. Every commit is fenced by the attempt and the
 * execution, so a run that has ended, was started again or was resumed accepts no entry.
 *
 * @param opening written in the first commit
 */
export function createJournal(deps: JournalDeps, run: RunRecord, opening?: Opening): Journal {
  const { unitOfWork, clock, maxEventBytes } = deps
  const { promise: closing, resolve: endPauses } = Promise.withResolvers<void>()
  let pending: Pending[] = []
  let flushing: Promise<void> | undefined
  let isClosed = false
  let unopened = opening

  const flush = async () => {
    while (pending.length > 0 && !isClosed) {
      const batch = pending.slice(0, batchLength(pending))
      pending = pending.slice(batch.length)
      await writeBatch(batch)
    }
    flushing = undefined
  }

  const markOpened = ({ committed }: CommitOutcome) => {
    if (committed) unopened = undefined
  }

  const writeBatch = async (batch: readonly Pending[]) => {
    const writes: readonly Write[] = [
      { type: 'run.fence', runId: run.id, attempt: run.attempt, execution: run.execution },
      ...(unopened === undefined ? [] : toWrites(unopened)),
      ...batch.flatMap(toWrites),
    ]
    const settle = (outcome: CommitOutcome) => {
      for (const one of batch) {
        if (outcome.committed) one.resolve()
        else if (one.isAlone && outcome.index > 0) one.resolve(outcome.conflict)
        else one.reject(notActive())
      }
    }
    try {
      const outcome = await retryTransient(deps, () => unitOfWork.commit(writes), {
        // A commit on a full disk is not retried: the call rejects with `storage-full`, and the code may continue
        // without the record.
        ...{ mayRetry: isStorageBusy, interrupt: closing, shouldStop: () => isClosed },
      })
      markOpened(outcome)
      settle(outcome)
    } catch (error) {
      // Entries that a busy storage refuses while the attempt ends are written in the commit that ends it.
      if (isClosed && isStorageBusy(error)) pending = [...batch, ...pending]
      else for (const one of batch) one.reject(error)
    }
  }

  const enqueue = (entry: Entry, isAlone: boolean): Promise<Conflict | undefined> => {
    flushing ??= Promise.resolve().then(flush)
    const newest = pending.at(-1)
    const weight = weightOf(entry)
    if (newest !== undefined && !isAlone && mayJoin(newest, entry, weight)) {
      for (const event of entry.events ?? []) newest.events.push(event)
      newest.weight += weight
      return newest.durable
    }
    const one = toPending(entry, weight, isAlone)
    pending.push(one)
    return one.durable
  }

  const record = (entry: Entry) =>
    (isClosed ? handledRejection(notActive()) : enqueue(entry, false)) as Promise<undefined>

  return {
    record,
    recordAlone: (entry) => (isClosed ? handledRejection(notActive()) : enqueue(entry, true)),
    isClosed: () => isClosed,
    check(type, payload, phase) {
      checkPhase(phase)
      checkedPayload(type, payload, maxEventBytes)
    },
    isIdle: () => flushing === undefined,
    opening: () => unopened?.events ?? [],
    emit(type, payload, phase) {
      if (isClosed) throw notActive(`the event ${type}`)
      checkPhase(phase)
      const text = checkedPayload(type, payload, maxEventBytes)
      return record({ events: [runEvent(run, { type, payload: text, phase, at: clock.now() })] })
    },
    async flush() {
      await flushing
    },
    async close() {
      isClosed = true
      endPauses()
      await flushing
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

/** The caller does not have to await the entry, so its rejection must not become unhandled. */
function toPending({ writes = [], events = [] }: Entry, weight: number, isAlone: boolean): Pending {
  const { promise, resolve, reject } = Promise.withResolvers<Conflict | undefined>()
  promise.catch(() => undefined)
  return { writes, events: [...events], weight, isAlone, durable: promise, resolve, reject }
}

function weightOf({ writes = [], events = [] }: Entry): number {
  if (writes.length > 0) return WEIGHT_OF_WRITES + Math.floor(charactersIn([writes, events]) / WRITTEN_CHARACTERS)
  let weight = 0
  for (const { payload } of events) weight += 1 + Math.floor(payload.length / WEIGHT_CHARACTERS)
  return weight
}

/** The length of the texts in the members of a value. Texts that are nested deeper than those of a call do not count. */
function charactersIn(value: unknown, depth = 5): number {
  if (typeof value === 'string') return value.length
  if (depth === 0 || typeof value !== 'object' || value === null) return 0
  let length = 0
  for (const member of Object.values(value)) length += charactersIn(member, depth - 1)
  return length
}

/** Consecutive events join one entry: they become durable together and share a promise. */
const mayJoin = (newest: Pending, { writes = [] }: Entry, weight: number): boolean =>
  !newest.isAlone && newest.writes.length + writes.length === 0 && newest.weight + weight <= WEIGHT_PER_COMMIT

/** How many of the oldest entries go into the next commit. */
function batchLength(pending: readonly Pending[]): number {
  if (pending[0]?.isAlone) return 1
  let total = 0
  const end = pending.findIndex(({ isAlone, weight }) => {
    total += weight
    return isAlone || total > WEIGHT_PER_COMMIT
  })
  return end === -1 ? pending.length : Math.max(1, end)
}

const toWrites = ({ writes, events }: Opening): readonly Write[] =>
  events.length === 0 ? writes : [...writes, { type: 'event.append', events }]

function checkPhase(phase: unknown): void {
  if (phase === undefined || phase === 'commentary') return
  throw perdureError('validation-failed', { message: 'the phase of an event must be commentary or missing' })
}

function checkedPayload(type: string, payload: unknown, maxEventBytes: number) {
  if (typeof type !== 'string' || !isAgentEventType(type)) {
    throw perdureError('validation-failed', {
      message: `an agent cannot emit the event type ${typeof type === 'string' ? JSON.stringify(type) : typeof type}`,
      hint: 'use lower-case words joined by dots, without a reserved prefix such as run. or session.',
    })
  }
  const text = toJsonText(payload ?? {})
  if (isLongerThan(text, maxEventBytes)) {
    throw perdureError('validation-failed', {
      message: `the payload of the event ${type} is longer than ${maxEventBytes} bytes`,
      hint: 'split the payload, or raise runs.maxEventBytes',
    })
  }
  return text
}

export const AWAIT_HINT = 'await every durable call and every emit before the code of the run returns'

const notActive = (what = 'what its code still did') =>
  perdureError('run-not-active', { message: `the run has ended; ${what} was not recorded`, hint: AWAIT_HINT })
