import { TOOL_FAILURES, type ToolFailureKind } from '@perdure/protocol'

export interface ToolErrorOptions {
  readonly message?: string | undefined
  readonly cause?: unknown
}

/** Thrown by a tool that knows how it failed; anything else it throws becomes `execution_failed`. */
export class ToolError extends Error {
  readonly kind: ToolFailureKind

  constructor(kind: ToolFailureKind, { message = TOOL_FAILURES[kind], cause }: ToolErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ToolError'
    this.kind = kind
  }
}
