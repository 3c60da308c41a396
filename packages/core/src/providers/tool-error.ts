import { TOOL_FAILURES, type ToolFailureKind } from '@perdure/protocol'

export interface ToolErrorOptions {
  readonly message?: string | undefined
  readonly cause?: unknown
}

/** Thrown by a tool to report how it failed; any other thrown value becomes `execution_failed`. */
export class ToolError extends Error {
  readonly kind: ToolFailureKind

  constructor(kind: ToolFailureKind, { message = TOOL_FAILURES[kind], cause }: ToolErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ToolError'
    this.kind = kind
  }
}
