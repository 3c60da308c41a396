import { type JsonParts, jsonPageParts, lengthOfItems, type PageItem, textOfParts } from '@perdure/core'
import type { JsonText, Page } from '@perdure/ports'
import type { Answer } from '../handlers.ts'
import { toByteStream } from './byte-stream.ts'
import { releaseBytes } from './release-bytes.ts'

/** Pages up to about this length are sent as one text. Bytes of UTF-8. */
const MAX_TEXT_BYTES = 128 * 1024

/** Small parts are sent together until they have this length, in bytes. */
const CHUNK_BYTES = 64 * 1024

/** Answers with a page: a long page is read from the store as fast as the client reads it. */
export async function pageAnswer(
  page: Page<PageItem>,
  { replayed }: { readonly replayed?: true | undefined } = {},
): Promise<Answer> {
  const parts = jsonPageParts(page)
  if (lengthOfItems(page.items) > MAX_TEXT_BYTES) return streamed(chunksOf(parts), replayed === true)
  return { status: 200, json: await textOfParts(parts), ...(replayed && { replayed }) }
}

/** Answers with a JSON document: a long document is rendered as fast as the client reads it. */
export async function partsAnswer(parts: JsonParts): Promise<Answer> {
  const reader = parts[Symbol.asyncIterator]()
  const first: string[] = []
  for (let length = 0; length <= MAX_TEXT_BYTES; ) {
    const { done, value } = await reader.next()
    if (done === true) return { status: 200, json: first.join('') as JsonText }
    first.push(value)
    length += value.length
  }
  const rest = async function* () {
    try {
      yield* first.splice(0)
      for (let next = await reader.next(); next.done !== true; next = await reader.next()) yield next.value
    } finally {
      await reader.return?.()
    }
  }
  return streamed(chunksOf(rest()), false)
}

function streamed(chunks: AsyncIterable<Uint8Array>, isReplayed: boolean): Response {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' }
  return new Response(toByteStream(chunks), {
    headers: isReplayed ? { ...headers, 'Idempotency-Replayed': 'true' } : headers,
  })
}

async function* chunksOf(parts: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder()
  let pending: Uint8Array[] = []
  let length = 0
  for await (const part of parts) {
    const bytes = typeof part === 'string' ? encoder.encode(part) : part
    pending.push(bytes)
    length += bytes.length
    if (length < CHUNK_BYTES) continue
    // The last part may be long. It is sent without a copy.
    const [chunk, rest] = [pending.slice(0, -1), bytes]
    pending = []
    length = 0
    if (chunk.length > 0) yield joined(chunk)
    yield rest
  }
  if (length > 0) yield joined(pending)
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
    releaseBytes(part)
  }
  return bytes
}
