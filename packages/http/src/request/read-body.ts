import { perdureError } from '@perdure/ports'
import type { Exchange } from '../exchange.ts'
import type { HttpEnv } from './http-env.ts'

export interface BodyLimit {
  readonly maxBytes: number
  /** The field of the configuration that sets the limit. */
  readonly field: string
}

/**
 * Reads a request body. The limit applies with and without a Content-Length.
 *
 * @throws PerdureError `body-too-large`; `invalid-json` if the body is incomplete
 */
export async function readBody(
  { request, head, env }: Pick<Exchange, 'request' | 'head' | 'env'>,
  { maxBytes: limitBytes, field }: BodyLimit,
): Promise<Uint8Array> {
  const announced = head.header('content-length')
  if (Number(announced ?? 0) > limitBytes) throw tooLarge(limitBytes, field)
  if (request.bodyUsed === true) throw new Error(ALREADY_READ)
  // The HTTP parser enforces the Content-Length, unless another server has received the request: it may decompress
  // the body, for example.
  if (announced !== undefined && env.incoming !== undefined) {
    return readBuffered(env, Number(announced)) ?? new Uint8Array(await request.arrayBuffer().catch(throwBrokenOff))
  }
  if (request.body === null) return new Uint8Array()
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read().catch(throwBrokenOff)
    if (done) return concat(chunks, size)
    size += value.byteLength
    if (size > limitBytes) {
      reader.cancel().catch(() => undefined)
      throw tooLarge(limitBytes, field)
    }
    chunks.push(value)
  }
}

const ALREADY_READ =
  'the body of the request has already been read: pass the request to server.fetch before anything reads its body'

/** Returns the body if it is already buffered, as with most requests, to save the cost of a stream. */
function readBuffered({ incoming }: HttpEnv, length: number): Uint8Array | undefined {
  if (length === 0) return new Uint8Array()
  const bytes = incoming?.readableLength === length ? incoming.read?.() : undefined
  return bytes instanceof Uint8Array ? bytes : undefined
}

function throwBrokenOff(cause: unknown): never {
  throw perdureError('invalid-json', { message: 'the body is incomplete', cause })
}

const tooLarge = (limitBytes: number, field: string) =>
  perdureError('body-too-large', { hint: `send at most ${limitBytes} bytes, or raise ${field}` })

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return only
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
