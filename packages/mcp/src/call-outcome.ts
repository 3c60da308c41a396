import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import type { McpOutcome } from '@perdure/ports'
import type { ToolFailureKind } from '@perdure/protocol'

interface ToolResult {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

const MAX_MESSAGE = 4_096

/** Converts a tool result; a result with `isError` becomes a failure. */
export function outcomeOf(result: ToolResult, maxResultBytes: number): McpOutcome {
  const { content = [], structuredContent, isError } = result
  if (isError === true) return failure('execution_failed', textOf(content) || 'the tool failed without a message')
  const value = { content, ...(structuredContent === undefined ? {} : { structuredContent }) }
  if (Buffer.byteLength(JSON.stringify(value), 'utf8') > maxResultBytes) {
    return failure('invalid_output', `the tool result is larger than ${maxResultBytes} bytes`)
  }
  return { ok: true, value }
}

/** Converts an error thrown while the call was in progress. */
export function failureOf(error: unknown, signal: AbortSignal | undefined): McpOutcome {
  const message = error instanceof Error ? error.message : String(error)
  if (signal?.aborted === true) return failure('aborted', 'the call was aborted')
  if (error instanceof ProtocolError) return failure(KINDS[error.code] ?? 'execution_failed', message)
  if (!(error instanceof SdkError)) return failure('execution_failed', message)
  if (error.code === SdkErrorCode.RequestTimeout) return failure('timeout', 'the server did not respond in time')
  if (error.code === SdkErrorCode.InvalidResult) return failure('invalid_output', message)
  if (error.code === SdkErrorCode.ConnectionClosed) {
    return failure('execution_failed', 'the connection was lost; the call may have taken effect')
  }
  return failure('execution_failed', message)
}

export const failure = (kind: ToolFailureKind, message: string): McpOutcome => ({
  ok: false,
  error: { kind, message: message.slice(0, MAX_MESSAGE) },
})

const KINDS: Readonly<Record<number, ToolFailureKind>> = {
  [ProtocolErrorCode.InvalidParams]: 'invalid_input',
  [ProtocolErrorCode.MethodNotFound]: 'unknown_tool',
}

const textOf = (content: unknown): string =>
  Array.isArray(content)
    ? content.flatMap((part) => (typeof part?.text === 'string' ? [part.text as string] : [])).join('\n')
    : ''
