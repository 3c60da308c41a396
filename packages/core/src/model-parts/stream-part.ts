import { parseStrictText } from '@perdure/ports'
/** What a chunk of a stream says, whatever library made it. */
export type StreamPart =
  | { readonly kind: 'block'; readonly of: 'text' | 'reasoning'; readonly op: 'start' | 'end'; readonly id: string }
  | {
      readonly kind: 'delta'
      readonly of: 'text' | 'reasoning'
      readonly id?: string | undefined
      readonly delta: string
    }
  /** Text that the log of the run has already. */
  | { readonly kind: 'heard'; readonly of: 'text' | 'reasoning'; readonly delta: string }
  | ({ readonly kind: 'tool-start'; readonly id: string; readonly name: string } & KnownTool)
  | { readonly kind: 'tool-delta'; readonly id: string; readonly delta: string }
  | ({ readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly args: unknown } & KnownTool)
  | { readonly kind: 'tool-result'; readonly id: string; readonly result: object }
  | { readonly kind: 'part'; readonly type: 'part.source' | 'part.file' | 'part.data'; readonly payload: object }
  | { readonly kind: 'usage'; readonly usage: TokenUsage; readonly isTotal: boolean }
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'finish'; readonly reason: string }
  | { readonly kind: 'failure'; readonly error: unknown }

/** The declaration of a tool, for a call whose code declares it. */
export interface KnownTool {
  readonly tool?: ToolDeclaration | undefined
}

export interface ToolDeclaration {
  /** Whether the types of its input and output are known when the code is written. */
  readonly declared: 'static' | 'dynamic'
  readonly title?: string
  /** Missing for a tool that the client performs. */
  readonly executor?: 'server'
}

export interface TokenUsage {
  readonly inputTokens: number
  /** How many of the input tokens the provider has read from its cache; missing if it does not say. */
  readonly cachedInputTokens?: number
  readonly outputTokens: number
}

export type Chunk = Readonly<Record<string, unknown>>

/** The parts that a chunk says; `undefined` for a chunk of another library. */
export type ReadChunk = (chunk: Chunk) => readonly StreamPart[] | undefined

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** A number, or the member `total` of an object. */
function countOf(value: unknown): number {
  const count = isChunk(value) ? value.total : value
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : 0
}

/** The counts of a usage object. The provider may leave out the cached tokens. */
export const tokenUsage = (inputTokens: unknown, cached: unknown, outputTokens: unknown): TokenUsage => ({
  inputTokens: countOf(inputTokens),
  ...(countOf(cached) === 0 ? {} : { cachedInputTokens: countOf(cached) }),
  outputTokens: countOf(outputTokens),
})

/** The member of an object; `undefined` for anything else. */
export const memberOf = (value: unknown, name: string): unknown => (isChunk(value) ? value[name] : undefined)

export const isChunk = (value: unknown): value is Chunk =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON of a model's arguments; text that is not JSON, or not in the form that a body may have, stays text. */
export function parseArgs(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return parseStrictText(value)
  } catch {
    return value
  }
}
