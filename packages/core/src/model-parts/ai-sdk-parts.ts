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

type Reader = (chunk: Chunk, id: string) => readonly StreamPart[]

const NOTHING: Reader = () => []

const blocks = (of: 'text' | 'reasoning'): Readonly<Record<string, Reader>> => ({
  [`${of}-start`]: (_, id) => [{ kind: 'block', of, op: 'start', id }],
  [`${of}-delta`]: (chunk, id) => [{ kind: 'delta', of, id, delta: textOf(chunk.text) ?? textOf(chunk.delta) ?? '' }],
  [`${of}-end`]: (_, id) => [{ kind: 'block', of, op: 'end', id }],
})

const toolStart: Reader = (chunk, id) => [{ kind: 'tool-start', id, name: textOf(chunk.toolName) ?? '' }]
const toolDelta: Reader = (chunk, id) => [
  { kind: 'tool-delta', id, delta: textOf(chunk.delta) ?? textOf(chunk.inputTextDelta) ?? '' },
]
const toolCall: Reader = (chunk, id) => [
  { kind: 'tool-call', id, name: textOf(chunk.toolName) ?? '', args: parseArgs(chunk.input) },
]
const toolResult: Reader = (chunk, id) => {
  const { preliminary } = chunk
  const result = 'output' in chunk ? chunk.output : chunk.result
  return [
    { kind: 'tool-result', id, result: { result: result ?? null, ...(preliminary === true ? { preliminary } : {}) } },
  ]
}
const toolError: Reader = (chunk, id) => {
  const message = messageOf('error' in chunk ? chunk.error : chunk.errorText)
  return [{ kind: 'tool-result', id, result: { error: { kind: 'execution_failed', message } } }]
}

const source: Reader = ({ url, title, mediaType, filename, ...chunk }, id) => [
  {
    kind: 'part',
    type: 'part.source',
    payload: { sourceId: textOf(chunk.sourceId) ?? id, url, title, mediaType, filename },
  },
]

/** A file of a model (as text or, since version 7, tagged with its form), of `fullStream`, or of a stream for `useChat`. */
function file(chunk: Chunk): readonly StreamPart[] {
  const { mediaType, base64, ...given } = isChunk(chunk.file) ? chunk.file : chunk
  const { url, data } = isChunk(given.data) ? given.data : given
  const address = url instanceof URL ? url.href : textOf(url)
  const text = textOf(data) ?? textOf(base64)
  return [{ kind: 'part', type: 'part.file', payload: { mediaType, url: address, data: text } }]
}

const usageIn = (usage: unknown): readonly StreamPart[] => {
  if (!isChunk(usage)) return []
  const { inputTokens, inputTokenDetails, cachedInputTokens, outputTokens } = usage
  // A model says it beside its total, the SDK in details, and older versions in a member of its own.
  const cached =
    memberOf(inputTokens, 'cacheRead') ?? memberOf(inputTokenDetails, 'cacheReadTokens') ?? cachedInputTokens
  const tokens = tokenUsage(inputTokens, cached, outputTokens)
  return [{ kind: 'usage', usage: tokens, isTotal: false }]
}

const finishReason = ({ finishReason: reason }: Chunk): readonly StreamPart[] => {
  const unified = textOf(isChunk(reason) ? reason.unified : reason)
  return unified === undefined ? [] : [{ kind: 'finish', reason: unified }]
}

/** The finish reason of an answer whose model named none. */
export const NO_FINISH = 'other'

const model = (response: unknown): readonly StreamPart[] => {
  const id = isChunk(response) ? textOf(response.modelId) : undefined
  return id === undefined ? [] : [{ kind: 'model', model: id }]
}

const failure: Reader = (chunk) => [{ kind: 'failure', error: chunk.error ?? chunk.errorText ?? chunk.reason }]

/** The parts of AI SDK 5 to 7: of `fullStream`, of a model, and of a stream for `useChat`. */
const READERS: Readonly<Record<string, Reader>> = {
  ...blocks('text'),
  ...blocks('reasoning'),
  'tool-input-start': toolStart,
  'tool-input-delta': toolDelta,
  'tool-input-end': NOTHING,
  'tool-input-available': toolCall,
  'tool-call': toolCall,
  'tool-result': toolResult,
  'tool-output-available': toolResult,
  'tool-error': toolError,
  'tool-input-error': toolError,
  'tool-output-error': toolError,
  'tool-output-denied': NOTHING,
  'tool-approval-request': NOTHING,
  'tool-approval-response': NOTHING,
  source,
  'source-url': source,
  'source-document': source,
  file,
  'reasoning-file': NOTHING,
  custom: NOTHING,
  'finish-step': (chunk) => [...model(chunk.response), ...usageIn(chunk.usage)],
  finish: (chunk) => [
    // The total of a loop repeats the usage of its steps.
    ...(chunk.totalUsage === undefined ? usageIn(chunk.usage) : []),
    ...finishReason(chunk),
  ],
  'response-metadata': model,
  error: failure,
  abort: failure,
  start: NOTHING,
  'start-step': NOTHING,
  // The SDK takes the reason as other if the stream of a model ends without a finish part.
  'stream-start': () => [{ kind: 'finish', reason: NO_FINISH }],
  'message-metadata': NOTHING,
  raw: NOTHING,
}

export const readAiSdk: ReadChunk = (chunk) => {
  const type = textOf(chunk.type)
  if (type === undefined) return undefined
  if (type.startsWith('data-')) {
    const { data, id, transient } = chunk
    return [{ kind: 'part', type: 'part.data', payload: { name: type.slice('data-'.length), data, id, transient } }]
  }
  const reader = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  return reader?.(chunk, textOf(chunk.toolCallId) ?? textOf(chunk.id) ?? type)
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : (textOf(error) ?? String(error))
