import type { EpochMs } from './clock.ts'
import type { JsonText } from './json-text.ts'
import type { RunError, RunUsage } from './run-store.ts'

/** What a run asked for: a piece of work, or something it waits for. */
export type StepKind = 'step' | 'sleep' | 'event' | 'approval' | 'child'

/** `started`: its code executes, or did when the process died. `waiting`: something outside will settle it. */
export type StepStatus = 'started' | 'waiting' | 'completed' | 'failed'

/** One durable call of a run. Its place in the order of calls is its identity; a re-execution must call the same. */
export interface StepRecord {
  readonly runId: string
  readonly seq: number // place in the order of calls, from 1
  readonly kind: StepKind
  readonly name: string
  readonly status: StepStatus
  readonly attempt: number // of the run, when it was last started
  readonly result?: JsonText | undefined
  readonly error?: RunError | undefined
  readonly dueAt?: EpochMs | undefined // while it waits: when a timer settles it
  readonly eventName?: string | undefined // while it waits: the named event that settles it
  readonly approvalId?: string | undefined
  readonly childRunId?: string | undefined
  readonly usage?: RunUsage | undefined // once settled: what the child run has used
  readonly order?: number | undefined // place among the settled calls of its run, from 1, in the order they settled
  readonly startedAt: EpochMs
  readonly settledAt?: EpochMs | undefined
}

/** The fields a change may set; a missing member stays as it is. */
export type StepChange = Partial<
  Pick<StepRecord, 'status' | 'attempt' | 'result' | 'error' | 'usage' | 'dueAt' | 'approvalId' | 'settledAt'>
>

/** Port. Reads of the durable calls of runs; written through `UnitOfWork`. Passes `stepStoreContract`. */
export interface StepStore {
  /** Every call of the run, by `seq`. */
  list(runId: string): Promise<readonly StepRecord[]>
  find(runId: string, seq: number): Promise<StepRecord | undefined>
  /** Waiting calls with `dueAt <= now`, earliest first. */
  due(now: EpochMs, limit: number): Promise<readonly StepRecord[]>
  /** The earliest `dueAt` of all waiting calls. */
  nextDueAt(): Promise<EpochMs | undefined>
  /** Waiting calls for the named event, oldest first; only those of one run when it is given. */
  waitingForEvent(eventName: string, limit: number, runId?: string): Promise<readonly StepRecord[]>
  /** The waiting call that this child run will settle. */
  waitingForChild(childRunId: string): Promise<StepRecord | undefined>
}
