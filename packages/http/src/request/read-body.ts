import { AppError } from '@perdure/ports'
import type { Exchange } from './exchange.ts'
import type { HttpEnv } from './http-env.ts'

/**
 * The bytes of a request's body, never more of them than the limit, whether or not the length was announced.
 *
 * @throws AppError `body-too-large`; `invalid-json` when the body breaks off
 */
export async function readBody(
  { request, head, env }: Pick<Exchange, 'request' | 'head' | 'env'>,
  limitBytes: number,
): Promise<Uint8Array> {
  const announced = head.header('content-length')
  if (Number(announced ?? 0) > limitBytes) throw tooLarge(limitBytes)
  // The parser of HTTP holds the body to its announced length.
  if (announced !== undefined) {
    return takeWhole(env, Number(announced)) ?? new Uint8Array(await request.arrayBuffer().catch(brokenOff))
  }
  if (request.body === null) return new Uint8Array()
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read().catch(brokenOff)
    if (done) return concat(chunks, size)
    size += value.byteLength
    if (size > limitBytes) {
      reader.cancel().catch(() => undefined)
      throw tooLarge(limitBytes)
    }
    chunks.push(value)
  }
}

/** The body where all of it has come in already, as it has with most requests; a stream costs more than what it carries. */
function takeWhole({ incoming }: HttpEnv, length: number): Uint8Array | undefined {
  if (length === 0) return new Uint8Array()
  const bytes = incoming?.readableLength === length ? incoming.read?.() : undefined
  return bytes instanceof Uint8Array ? bytes : undefined
}

function brokenOff(cause: unknown): never {
  throw new AppError('invalid-json', { message: 'the body broke off', cause })
}

const tooLarge = (limitBytes: number) =>
  new AppError('body-too-large', { hint: `send at most ${limitBytes} bytes, or raise server.bodyLimitBytes` })

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
