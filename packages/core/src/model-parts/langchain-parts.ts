import { isChunk, memberOf, type ReadChunk, type StreamPart, textOf, tokenUsage } from './stream-part.ts'

/** The message chunks of LangChain. The ids and names of tool calls come only with their first chunk. */
export function createReadLangChain(): ReadChunk {
  const ids = new Map<unknown, string>()

  const toolParts = (chunk: unknown): readonly StreamPart[] => {
    if (!isChunk(chunk)) return []
    const id = textOf(chunk.id)
    const starts = id !== undefined && ids.get(chunk.index) !== id
    if (id !== undefined) ids.set(chunk.index, id)
    const known = ids.get(chunk.index)
    if (known === undefined) return []
    const delta = textOf(chunk.args) ?? ''
    return [
      ...(starts ? [{ kind: 'tool-start', id: known, name: textOf(chunk.name) ?? '' } as const] : []),
      ...(delta === '' ? [] : [{ kind: 'tool-delta', id: known, delta } as const]),
    ]
  }

  return (chunk) => {
    // Version 1 names the author of a message; a chunk without a name is of an earlier version.
    if (!('content' in chunk) || ('type' in chunk && chunk.type !== 'ai')) return undefined
    const { tool_call_chunks: calls, usage_metadata: usage, response_metadata: response } = chunk
    const reason = textOf(memberOf(response, 'finish_reason')) ?? textOf(memberOf(response, 'stop_reason'))
    const tokens = isChunk(usage)
      ? tokenUsage(usage.input_tokens, memberOf(usage.input_token_details, 'cache_read'), usage.output_tokens)
      : undefined
    return [
      ...textsOf(chunk.content).map((delta) => ({ kind: 'delta', of: 'text', delta }) as const),
      ...(Array.isArray(calls) ? calls.flatMap(toolParts) : []),
      ...(tokens === undefined ? [] : [{ kind: 'usage', usage: tokens, isTotal: false } as const]),
      ...(reason === undefined ? [] : [{ kind: 'finish', reason } as const]),
    ]
  }
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((block) => (isChunk(block) && typeof block.text === 'string' ? [block.text] : []))
}
