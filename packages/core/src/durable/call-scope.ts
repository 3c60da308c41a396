import type { CheckJson, Clock, Digest, IdGenerator, Nesting, RunRecord, Span, Timers } from '@perdure/ports'
import type { Journal } from './journal.ts'
import type { Ledger } from './ledger.ts'
import type { ModelRequest } from './model-request.ts'
import type { RequireTimers } from './require-timers.ts'
import type { ResultFiles } from './result-files.ts'
import type { Budget } from './usage/run-budget.ts'
import type { RunMeter } from './usage/run-meter.ts'

/** What all durable calls of one execution share. */
export interface CallScope {
  readonly run: RunRecord
  /** The ids of the runs that wait for this run: the parent, its parent, and so on, in any order. */
  readonly ancestors: readonly string[]
  /** The ids of the tool calls that this execution has made. */
  readonly toolCallIds: Set<string>
  readonly journal: Journal
  readonly ledger: Ledger
  readonly signal: AbortSignal
  /** The span of this execution. */
  readonly span: Span
  readonly nesting: Nesting
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: IdGenerator
  readonly digest: Pick<Digest, 'sha256'>
  readonly budget: Budget
  /** The request of this execution to go on beyond a budget that is open now. */
  readonly budgetRequest: { pending: Promise<void> | undefined }
  readonly runMeter: RunMeter
  readonly maxResultBytes: number
  readonly resultFiles: ResultFiles
  /** How long a call of a model may send nothing; unlimited when missing. */
  readonly stallTimeoutMs?: number | undefined
  /** Whether spans contain what models are asked and answer. */
  readonly recordContent?: boolean | undefined
  /** Called before a wait that a durable timer ends. */
  readonly requireTimers: RequireTimers
  /** Checks the schema of an editable approval before somebody is asked; unchecked when missing. */
  readonly checkJson?: CheckJson | undefined
  /** Warns the operator about something that the code of the run does. */
  readonly warn: (message: string) => void
  /** Called for each call of a model that a replay makes again. */
  readonly onReplayed?: ((seq: number, request: ModelRequest) => void) | undefined
  /** Passes the due time of a call to the timer driver. */
  readonly onDue: (dueAt: number) => void
}
