import type { Duration } from '@perdure/protocol'

/** Limits on what a run may use. A run that reaches one ends with the finish reason `budget-exhausted`, or asks. */
export interface BudgetOptions {
  /** Input and output tokens of its model calls. */
  readonly tokens?: number | undefined
  readonly costUsd?: number | undefined
  readonly toolCalls?: number | undefined
  /** The time since the run was accepted or its start time, suspension included. */
  readonly maxDuration?: Duration | undefined
  /**
   * At a limit of tokens, costs or tool calls, `'fail'` (default) ends the run. `'ask'` lets it wait, before its next step, tool call or
   * child, for an approval to go on: an approval adds the limit once more to what is used, a denial ends the run. `maxDuration` always
   * ends the run.
   */
  readonly onExceeded?: 'fail' | 'ask' | undefined
}
