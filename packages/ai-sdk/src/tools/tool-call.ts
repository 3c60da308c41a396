import type { ToolContext } from '@perdure/core'

/** What the call of a tool has that the AI SDK does not know. */
export type DurableToolCall = Pick<ToolContext, 'idempotencyKey' | 'approval'>

/**
 * The durable call that executes a tool, from the second argument of its `execute`. Pass its `idempotencyKey` to the external
 * system, so that a call that a crash has cut off has its effect once. Outside of a run, the key is the `toolCallId`.
 */
export function toolCallOf(options: { readonly toolCallId: string }): DurableToolCall {
  const { toolCallId, idempotencyKey = toolCallId, approval } = options as typeof options & Partial<DurableToolCall>
  return { idempotencyKey, ...(approval === undefined ? {} : { approval }) }
}
