import type { ToolFailureKind } from '@berth/protocol'
import type { ApprovalOptions } from '../approvals/approval-options.ts'
import type { StepTry } from '../steps/step.ts'

export interface ToolCall<T> {
  readonly name: string
  readonly args?: unknown
  readonly execute: (args: unknown, call: StepTry) => T | Promise<T>
  /** The tool is given up after this long. Milliseconds. */
  readonly timeoutMs?: number
  /** Asks a human first; `true` for an approval without more to say. */
  readonly approval?: boolean | ApprovalOptions
}

export type ToolOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: { readonly kind: ToolFailureKind; readonly message: string } }
