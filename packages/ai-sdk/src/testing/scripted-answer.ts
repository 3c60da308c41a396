/** A piece of an answer. */
export type ScriptedPart =
  | { readonly text: string }
  | { readonly reasoning: string }
  /** Calls a tool. */
  | { readonly toolName: string; readonly input: unknown; readonly toolCallId?: string }
  /** Names a source on the web. */
  | { readonly url: string; readonly title?: string }
  /** A file; `data` is base64. */
  | { readonly mediaType: string; readonly data: string }

/** An answer: its text, one piece, or all of its pieces. */
export type ScriptedAnswer = string | ScriptedPart | readonly ScriptedPart[]

type Chunk = Readonly<Record<string, unknown>>

/** What a model of the SDK answers. */
export interface Answer {
  /** As `doGenerate` returns it. */
  readonly content: readonly Chunk[]
  /** As `doStream` sends it. */
  readonly parts: readonly Chunk[]
  readonly finish: Chunk
}

interface Place {
  readonly turn: number
  readonly inputWords: number
}

export function answerParts(answer: ScriptedAnswer, { turn, inputWords }: Place): Answer {
  const pieces = piecesOf(answer).map((piece, index) => chunksOf(piece, { turn, index }))
  const content = pieces.map(({ whole }) => whole)
  const callsTools = content.some(({ type }) => type === 'tool-call')
  const words = wordsIn(content.map((chunk) => String(chunk.text ?? chunk.input ?? '')).join(' ')).length
  return {
    content,
    parts: pieces.flatMap(({ streamed }) => streamed),
    finish: {
      finishReason: { unified: callsTools ? 'tool-calls' : 'stop', raw: undefined },
      usage: {
        inputTokens: { total: inputWords, noCache: inputWords, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: words, text: words, reasoning: undefined },
      },
    },
  }
}

const piecesOf = (answer: ScriptedAnswer): readonly ScriptedPart[] => {
  if (typeof answer === 'string') return [{ text: answer }]
  return Array.isArray(answer) ? answer : [answer as ScriptedPart]
}

export interface Chunks {
  readonly whole: Chunk
  readonly streamed: readonly Chunk[]
}

function chunksOf(piece: ScriptedPart, { turn, index }: { readonly turn: number; readonly index: number }): Chunks {
  if ('text' in piece) return blockOf('text', piece.text, index)
  if ('reasoning' in piece) return blockOf('reasoning', piece.reasoning, index)
  if ('toolName' in piece)
    return toolOf({ ...piece, input: JSON.stringify(piece.input) }, piece.toolCallId ?? `call-${turn + 1}-${index + 1}`)
  const whole =
    'url' in piece
      ? { type: 'source', sourceType: 'url', id: `source-${turn + 1}-${index + 1}`, ...piece }
      : { type: 'file', ...piece }
  return { whole, streamed: [whole] }
}

export function blockOf(type: 'text' | 'reasoning', text: string, index: number): Chunks {
  const id = String(index + 1)
  const deltas = wordsIn(text).map((delta) => ({ type: `${type}-delta`, id, delta }))
  return { whole: { type, text }, streamed: [{ type: `${type}-start`, id }, ...deltas, { type: `${type}-end`, id }] }
}

/** @param call its input as JSON */
export function toolOf(
  { toolName, input, ...rest }: { readonly toolName: string; readonly input: string; readonly providerExecuted?: true },
  id: string,
): Chunks {
  const whole = { type: 'tool-call', toolCallId: id, toolName, input, ...rest }
  const deltas = wordsIn(input).map((delta) => ({ type: 'tool-input-delta', id, delta }))
  return {
    whole,
    streamed: [{ type: 'tool-input-start', id, toolName }, ...deltas, { type: 'tool-input-end', id }, whole],
  }
}

/** The words of a text, each with the space after it. */
export const wordsIn = (text: string): readonly string[] => text.split(/(?<=\s)(?=\S)/).filter((word) => word !== '')

/** The text of a message of a prompt. */
export const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('\n')
}
