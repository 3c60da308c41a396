import type { CallKind, CallStatus } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery, PageStart } from './page.ts'
import type { RunError, RunUsage } from './run-store.ts'
import type { JsonText } from './values/json-text.ts'
import type { WithStored } from './values/stored-text.ts'

/** Kind of durable call: work that the run does, or something it waits for. */
export type StepKind = CallKind

/**
 * `started`: its code is executing, or was executing when the process died. `waiting`: a timer, event, approval,
 * child run or tool result will end it.
 */
export type StepStatus = CallStatus

/** A file whose content is the JSON of a result. */
export interface ResultFile {
  readonly id: string
  readonly bytes: number
}

/** One durable call of a run, identified by its `seq`. A re-execution must make the same calls in the same order. */
export interface StepRecord {
  readonly runId: string
  readonly seq: number // position in the order of calls, from 1
  readonly kind: StepKind
  readonly name: string
  readonly status: StepStatus
  readonly attempt: number // attempt of the run in which the call was last started
  readonly recoveries?: number | undefined // how often the call was executed again after a crash; 0 when missing
  readonly result?: JsonText | undefined
  /** The file that has the result, if it is too long for `result`. The run holds it. */
  readonly resultFile?: ResultFile | undefined
  readonly error?: RunError | undefined
  readonly dueAt?: EpochMs | undefined // while waiting: when a timer ends the call
  /** While waiting: the named event that ends the call. For a client tool: `tool:` and the id of the tool call. */
  readonly eventName?: string | undefined
  readonly approvalId?: string | undefined
  /** SHA-256 of what the approval was requested for; missing in calls of earlier releases. */
  readonly askedHash?: string | undefined
  readonly childRunId?: string | undefined
  readonly usage?: RunUsage | undefined // after the end: usage of the child run
  readonly endOrder?: number | undefined // position in the order in which the calls of the run ended, from 1
  readonly startedAt: EpochMs
  readonly endedAt?: EpochMs | undefined
}

/** The fields that a change can set; a missing member stays unchanged. */
export type StepChange = Partial<
  Pick<
    StepRecord,
    | 'status'
    | 'attempt'
    | 'recoveries'
    | 'result'
    | 'resultFile'
    | 'error'
    | 'usage'
    | 'dueAt'
    | 'eventName'
    | 'approvalId'
    | 'askedHash'
    | 'endedAt'
  >
>

/** A call whose long result stays in the store. */
export type OutlinedStep = WithStored<StepRecord, 'result'>

/** Selects a part of the calls of a run, ordered by `seq`. */
export interface StepRange {
  readonly after: number // exclusive `seq`; 0 reads from the start
  readonly limit: number
  /** Only calls with this status. */
  readonly status?: StepStatus | undefined
}

/** Selects a part of the calls of a run with their results, ordered by `seq`. */
export interface StepPartRange {
  readonly after: number // exclusive `seq`; 0 reads from the start
  readonly limit: number
  readonly maxBytes: number // of the content, up to `MAX_PAGE_BYTES`
}

/** Selects a part of the calls of a run that have ended. */
export interface EndedRange {
  readonly after: number // exclusive `endOrder`; 0 reads from the first call that ended
  readonly limit: number
}

/** Selects a part of the calls that wait for an event. */
export interface EventWaitRange {
  readonly limit: number
  /**
   * The last call of the part before; if missing, the part starts with the oldest. If the call no longer waits, the part may
   * repeat calls that started in the same millisecond.
   */
  readonly after?: Pick<StepRecord, 'runId' | 'seq' | 'startedAt'> | undefined
  /** Only calls of this run. */
  readonly runId?: string | undefined
}

/** Port. Reads the durable calls of runs; every write goes through `UnitOfWork`. Must pass `stepStoreContract`. */
export interface StepStore {
  /**
   * Lists every call of the run, ordered by `seq`. With `results: false`, the members `result` and `error` are neither
   * read nor returned; `resultFile` is.
   */
  list(runId: string, content?: { readonly results: boolean }): Promise<readonly StepRecord[]>
  /**
   * Reads some calls of the run with all their members, ordered by `seq`. The part ends after `limit` calls, or before
   * the call whose content would bring it above `maxBytes`. A larger call is a part of its own.
   */
  read(runId: string, range: StepPartRange): Promise<PageStart<StepRecord>>
  /**
   * Lists some calls of the run without their `result` and `error`, ordered by `seq`. The list ends like a page, after
   * `limit` calls or at `MAX_PAGE_BYTES`. It is empty only when no more calls follow.
   */
  listBriefly(runId: string, range: StepRange): Promise<readonly StepRecord[]>
  /** Lists the completed calls of the run, ordered by `seq`. A result longer than `MAX_SHORT_BYTES` is a `StoredText`. */
  completed(runId: string, page: PageQuery): Promise<Page<OutlinedStep>>
  /**
   * Lists calls of the run that have ended, without their `result` and `error`, in the order in which they ended. The part ends
   * like a page, after `limit` calls or at `MAX_PAGE_BYTES`.
   */
  ended(runId: string, range: EndedRange): Promise<PageStart<StepRecord>>
  find(runId: string, seq: number): Promise<StepRecord | undefined>
  /** Lists waiting calls with `dueAt <= now`, earliest first. */
  due(now: EpochMs, limit: number): Promise<readonly StepRecord[]>
  /** Returns the earliest `dueAt` of all waiting calls. */
  nextDueAt(): Promise<EpochMs | undefined>
  /** Lists some calls that wait for the named event, oldest first. */
  waitingForEvent(eventName: string, range: EventWaitRange): Promise<readonly StepRecord[]>
  /** Returns the call that waits for this child run to end. */
  waitingForChild(childRunId: string): Promise<StepRecord | undefined>
}
