import type { Clock, IdGenerator, Nesting, RunRecord, Span, Timers } from '@perdure/ports'
import type { Journal } from './journal.ts'
import type { Ledger } from './ledger.ts'
import type { RequireTimers } from './require-timers.ts'
import type { Budget } from './run-budget.ts'
import type { RunMeter } from './run-meter.ts'

/** What every durable call of one execution shares. */
export interface CallScope {
  readonly run: RunRecord
  readonly journal: Journal
  readonly ledger: Ledger
  readonly signal: AbortSignal
  /** Of this execution. */
  readonly span: Span
  readonly nesting: Nesting
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: IdGenerator
  readonly budget: Budget
  readonly runMeter: RunMeter
  readonly maxResultBytes: number
  /** Before a wait that ends at a time. */
  readonly requireTimers: RequireTimers
  /** Tells the timer driver of a call that is due earlier than what it knows. */
  readonly onDue: (dueAt: number) => void
}
