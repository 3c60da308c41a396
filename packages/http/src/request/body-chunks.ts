import { perdureError } from '@perdure/ports'
import type { Exchange } from '../exchange.ts'

/**
 * The body of a request, as it arrives. Leaves the rest of it unread when the reader stops.
 *
 * @throws PerdureError `body-too-large` for an announced length above the limit; `invalid-json` if the body is incomplete
 */
export async function* bodyChunks(
  { request, head }: Pick<Exchange, 'request' | 'head'>,
  limitBytes: number,
): AsyncGenerator<Uint8Array> {
  if (Number(head.header('content-length') ?? 0) > limitBytes) {
    throw perdureError('body-too-large', { hint: `send at most ${limitBytes} bytes, or raise files.maxBytes` })
  }
  if (request.body === null) return
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  let isRead = false
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(throwBrokenOff)
      if (done) break
      yield value
    }
    isRead = true
  } finally {
    if (!isRead) reader.cancel().catch(() => undefined)
  }
}

function throwBrokenOff(cause: unknown): never {
  throw perdureError('invalid-json', { message: 'the body is incomplete', cause })
}
