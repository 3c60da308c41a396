import type { ToolFailureKind } from '@perdure/protocol'
import type { ApprovalOptions } from './approval-options.ts'
import type { StepOptions, StepTry } from './step.ts'

/** A call of a tool; its `args` give `execute` their type. */
export interface ToolCall<Args = unknown, Result = unknown> {
  readonly name: string
  readonly args?: Args
  /**
   * Gets what a step gets: `effectId`, the same whenever this call is executed, for the idempotency key of what it does outside;
   * `signal`, which aborts with the run and after `timeoutMs`; `attempt` and `traceparent`.
   */
  readonly execute: (args: Args, call: StepTry) => Result | PromiseLike<Result>
  /** The tool is given up after this long. Milliseconds. */
  readonly timeoutMs?: number
  /**
   * What becomes of a call that was executing when the process died: `'retry'` (when missing) executes it again, under the same
   * `effectId`; `'fail'` answers `execution_failed`; `'ask'` lets a human decide, and answers `approval_denied` when they deny it.
   */
  readonly onCrash?: StepOptions['onCrash']
  /** Asks a human first; `true` for an approval without more to say. */
  readonly approval?: boolean | ApprovalOptions
}

/** What tells whether a tool has failed. */
export type ToolResult = ToolOutcome<unknown>

export type ToolOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: { readonly kind: ToolFailureKind; readonly message: string } }
