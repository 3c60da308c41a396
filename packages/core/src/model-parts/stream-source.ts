import { perdureError } from '@perdure/ports'
import { readAiSdk } from './ai-sdk-parts.ts'
import { createReadLangChain } from './langchain-parts.ts'
import { createReadChatCompletion, createReadResponses } from './openai-parts.ts'
import { isChunk, type ReadChunk, type StreamPart } from './stream-part.ts'

/** A `ReadableStream`, or anything with its reader. */
interface Readable {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>
    cancel(reason?: unknown): Promise<void>
  }
}

type Chunks = AsyncIterable<unknown> | Readable

/**
 * What streams the answer of a model: text, or chunks of the AI SDK, the OpenAI client or LangChain. An object with the
 * member `fullStream`, `stream` or `textStream`, as `streamText` returns it, counts as that stream.
 */
export type StreamSource =
  | Chunks
  | { readonly fullStream: Chunks }
  | { readonly stream: Chunks }
  | { readonly textStream: Chunks }

const MEMBERS = ['fullStream', 'stream', 'textStream'] as const

/** Whether a value streams. No JSON value does. */
export const isStreamSource = (value: unknown): value is StreamSource => chunksIn(value) !== undefined

/** The parts of the stream, in order. Closes the source when the reader stops early. */
export async function* partsOf(source: unknown): AsyncGenerator<StreamPart> {
  const chunks = chunksIn(source)
  if (chunks === undefined) {
    throw perdureError('validation-failed', {
      message: 'ctx.stream: the function must return a stream',
      hint: 'return an async iterable, a ReadableStream or the result of streamText',
    })
  }
  const read = createReadChunk()
  for await (const chunk of chunks) yield* read(chunk)
}

/** Reads the chunks of one stream. */
export function createReadChunk(): (chunk: unknown) => readonly StreamPart[] {
  const readers = [createReadChatCompletion(), createReadResponses(), readAiSdk, createReadLangChain()]
  return (chunk) => readChunk(readers, chunk)
}

function readChunk(readers: readonly ReadChunk[], chunk: unknown): readonly StreamPart[] {
  if (typeof chunk === 'string') return [{ kind: 'delta', of: 'text', delta: chunk }]
  if (!isChunk(chunk)) return [unknownPart('chunk', chunk)]
  for (const read of readers) {
    const parts = read(chunk)
    if (parts !== undefined) return parts
  }
  return [unknownPart(typeof chunk.type === 'string' ? chunk.type : 'chunk', chunk)]
}

const unknownPart = (type: string, data: unknown): StreamPart => ({
  kind: 'part',
  type: 'part.data',
  payload: { name: `sdk.${type}`, data },
})

/** `fullStream` is read before the others, because it has everything that they have. */
function chunksIn(value: unknown): AsyncIterable<unknown> | undefined {
  const own = toIterable(value)
  if (own !== undefined || typeof value !== 'object' || value === null) return own
  const name = MEMBERS.find(
    (member) => member in value && toIterable((value as Record<string, unknown>)[member]) !== undefined,
  )
  return name === undefined ? undefined : toIterable((value as Record<string, unknown>)[name])
}

function toIterable(value: unknown): AsyncIterable<unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Symbol.asyncIterator in value) return value as AsyncIterable<unknown>
  return 'getReader' in value && typeof value.getReader === 'function' ? readAll(value as Readable) : undefined
}

async function* readAll(stream: Readable): AsyncGenerator<unknown> {
  const reader = stream.getReader()
  let isDone = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isDone = done
      if (done) return
      yield value
    }
  } finally {
    if (!isDone) await reader.cancel()
  }
}
