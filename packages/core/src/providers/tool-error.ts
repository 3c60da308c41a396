import { NamedError } from '@perdure/ports'
import { TOOL_FAILURES, type ToolFailureKind } from '@perdure/protocol'

export interface ToolErrorOptions {
  readonly message?: string | undefined
  readonly cause?: unknown
}

/** Thrown by a tool to report how it failed; any other thrown value becomes `execution_failed`. */
export class ToolError extends NamedError {
  readonly kind: ToolFailureKind

  constructor(kind: ToolFailureKind, { message = TOOL_FAILURES[kind], cause }: ToolErrorOptions = {}) {
    super('ToolError', message, cause)
    this.kind = kind
  }
}
