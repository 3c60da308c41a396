import type { Duration, ToolFailureKind } from '@perdure/protocol'
import type { ApprovalOptions } from './approvals/approval-options.ts'
import type { RepeatOptions, StepContext } from './step.ts'

/** A tool call. The type of `args` is the type of the first parameter of `execute`. */
export interface ToolCall<Args = unknown, Result = unknown> extends Pick<RepeatOptions, 'retries' | 'recoveries'> {
  readonly name: string
  readonly args?: Args
  /**
   * The id of this call in events and approvals, such as the id that the model gave it. Unique in the run, 1 to 128 visible
   * ASCII characters. By default, the id is made from the run and the number of the call.
   */
  readonly toolCallId?: string
  /**
   * `call` is the argument that a step function gets: `idempotencyKey`, `signal`, `attempt` and `traceparent`, and
   * `approval` after an approval, whose decider may have changed `args`. The `idempotencyKey`
   * is the same in every execution of this call, so pass it to external systems as the idempotency key. The `signal`
   * aborts with the run and after `timeout`.
   */
  readonly execute: (args: Args, call: ToolContext) => Result | PromiseLike<Result>
  /** Time limit for each execution of the tool. */
  readonly timeout?: Duration
  /**
   * How to treat a call that was executing when the process died: `'retry'` (default) executes it again with the same
   * `idempotencyKey`; `'fail'` returns `execution_failed`; `'ask'` asks a person, and returns `execution_failed` when they
   * decline.
   */
  readonly onCrash?: RepeatOptions['onCrash']
  /**
   * Asks a person for approval first; `true` asks without a title or payload. The decision counts only for the arguments of
   * this call.
   */
  readonly approval?: boolean | ApprovalOptions
}

/** The second argument of the `execute` of a tool. */
export interface ToolContext extends StepContext {
  /** The decision of the person who approved this call; missing if nobody was asked. */
  readonly approval?: ToolApproval
}

export interface ToolApproval {
  /** The subject that approved. */
  readonly by?: string
  readonly at: Date
  /** Whether the arguments are those that the decider has sent, not those that were asked for. */
  readonly edited: boolean
}

/** The result of any tool. */
export type ToolResult = ToolOutcome<unknown>

export type ToolOutcome<T> =
  | ({ readonly ok: true; readonly value: T } & Edited)
  | ({ readonly ok: false; readonly error: { readonly kind: ToolFailureKind; readonly message: string } } & Edited)

interface Edited {
  /** The arguments that the decider has sent in place of those of the call; missing if it changed none. */
  readonly editedArgs?: unknown
}
