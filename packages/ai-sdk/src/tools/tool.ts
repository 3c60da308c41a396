/** A tool of the AI SDK. */
export interface ToolLike {
  readonly type?: string | undefined
  readonly title?: string | undefined
  readonly description?: unknown
  readonly inputSchema?: unknown
  readonly isProviderExecuted?: boolean | undefined
  readonly needsApproval?: unknown
  readonly toModelOutput?: ((result: ToolOutput) => unknown) | undefined
  readonly execute?: ((input: unknown, options: ExecuteOptions) => unknown) | undefined
}

export interface ToolOutput {
  readonly toolCallId: string
  readonly input: unknown
  readonly output: unknown
}

/** The second argument of `execute`. */
export interface ExecuteOptions {
  readonly toolCallId: string
  readonly messages?: readonly unknown[]
  readonly abortSignal?: AbortSignal
  /** The context of the tool, in version 7. */
  readonly context?: unknown
  /** The context of the call, in version 6. */
  readonly experimental_context?: unknown
}

export type Tools = Readonly<Record<string, ToolLike>>
