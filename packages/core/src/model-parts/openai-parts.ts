import {
  type Chunk,
  isChunk,
  memberOf,
  parseArgs,
  type ReadChunk,
  type StreamPart,
  textOf,
  tokenUsage,
} from './stream-part.ts'

const usageOf = (usage: unknown, input: string, output: string): readonly StreamPart[] =>
  isChunk(usage)
    ? [
        {
          kind: 'usage',
          usage: tokenUsage(usage[input], memberOf(usage[`${input}_details`], 'cached_tokens'), usage[output]),
          isTotal: true,
        },
      ]
    : []

const modelOf = ({ model }: Chunk): readonly StreamPart[] =>
  typeof model === 'string' ? [{ kind: 'model', model }] : []

const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined)

/** The chunks of an OpenAI chat completion. The ids and names of tool calls come only with their first chunk. */
export function createReadChatCompletion(): ReadChunk {
  const calls = new Map<unknown, { readonly id: string; readonly name: string; args: string }>()

  const startOf = (call: Chunk, name: string): readonly StreamPart[] => {
    const id = textOf(call.id)
    if (id === undefined || calls.has(call.index)) return []
    calls.set(call.index, { id, name, args: '' })
    return [{ kind: 'tool-start', id, name }]
  }

  const toolParts = (call: unknown): readonly StreamPart[] => {
    if (!isChunk(call)) return []
    const fn = isChunk(call.function) ? call.function : {}
    const started = startOf(call, textOf(fn.name) ?? '')
    const known = calls.get(call.index)
    const delta = textOf(fn.arguments) ?? ''
    if (known === undefined || delta === '') return started
    known.args += delta
    return [...started, { kind: 'tool-delta', id: known.id, delta }]
  }

  const finished = (reason: unknown): readonly StreamPart[] => {
    if (typeof reason !== 'string') return []
    const done = [...calls.values()].map(
      ({ id, name, args }): StreamPart => ({ kind: 'tool-call', id, name, args: parseArgs(args) }),
    )
    calls.clear()
    return [...done, { kind: 'finish', reason }]
  }

  return (chunk) => {
    if (chunk.object !== 'chat.completion.chunk') return undefined
    const choice = firstOf(chunk.choices)
    const { delta, finish_reason: reason } = isChunk(choice) ? choice : {}
    const { tool_calls: tools, ...texts } = isChunk(delta) ? delta : {}
    return [
      ...modelOf(chunk),
      ...deltaOf('reasoning', texts.reasoning_content),
      ...deltaOf('text', texts.content),
      ...(Array.isArray(tools) ? tools.flatMap(toolParts) : []),
      ...finished(reason),
      ...usageOf(chunk.usage, 'prompt_tokens', 'completion_tokens'),
    ]
  }
}

const deltaOf = (of: 'text' | 'reasoning', delta: unknown): readonly StreamPart[] =>
  typeof delta === 'string' ? [{ kind: 'delta', of, delta }] : []

/** The events of the OpenAI Responses API. */
export function createReadResponses(): ReadChunk {
  const callIds = new Map<unknown, string>()

  const item = (type: string, { item: given }: Chunk): readonly StreamPart[] => {
    if (!isChunk(given) || given.type !== 'function_call') return []
    const id = textOf(given.call_id) ?? ''
    const name = textOf(given.name) ?? ''
    callIds.set(given.id, id)
    if (type === 'response.output_item.added') return [{ kind: 'tool-start', id, name }]
    return [{ kind: 'tool-call', id, name, args: parseArgs(given.arguments) }]
  }

  const ended = ({ response }: Chunk): readonly StreamPart[] => {
    if (!isChunk(response)) return []
    const reason = textOf(response.status) ?? 'completed'
    return [
      ...modelOf(response),
      ...usageOf(response.usage, 'input_tokens', 'output_tokens'),
      { kind: 'finish', reason },
    ]
  }

  return (chunk) => {
    const type = textOf(chunk.type)
    if (type === undefined || !type.startsWith('response.')) return undefined
    const id = `${textOf(chunk.item_id) ?? ''}.${String(chunk.content_index ?? chunk.summary_index ?? 0)}`
    const delta = textOf(chunk.delta) ?? ''
    switch (type) {
      case 'response.output_text.delta':
        return [{ kind: 'delta', of: 'text', id, delta }]
      case 'response.output_text.done':
        return [{ kind: 'block', of: 'text', op: 'end', id }]
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return [{ kind: 'delta', of: 'reasoning', id, delta }]
      case 'response.output_item.added':
      case 'response.output_item.done':
        return item(type, chunk)
      case 'response.function_call_arguments.delta':
        return [{ kind: 'tool-delta', id: callIds.get(chunk.item_id) ?? '', delta }]
      case 'response.completed':
      case 'response.incomplete':
        return ended(chunk)
      case 'response.failed':
        return [{ kind: 'failure', error: isChunk(chunk.response) ? chunk.response.error : chunk }]
      default:
        return []
    }
  }
}
