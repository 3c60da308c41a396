import type { ToolFailureKind } from '@berth/protocol'
import type { ApprovalOptions } from '../approvals/approval-options.ts'
import type { StepTry } from '../steps/step.ts'

/** A call of a tool; its `args` give `execute` their type. */
export interface ToolCall<Args = unknown, Result = unknown> {
  readonly name: string
  readonly args?: Args
  readonly execute: (args: Args, call: StepTry) => Result | PromiseLike<Result>
  /** The tool is given up after this long. Milliseconds. */
  readonly timeoutMs?: number
  /** Asks a human first; `true` for an approval without more to say. */
  readonly approval?: boolean | ApprovalOptions
}

export type ToolOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: { readonly kind: ToolFailureKind; readonly message: string } }
