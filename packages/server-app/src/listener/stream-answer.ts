import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { releaseBytes } from '@perdure/http'
import { isEventStream } from './event-stream.ts'
import { onDisconnect } from './on-disconnect.ts'
import { CLOSE_CONNECTION, discardRest } from './write-answer.ts'

/**
 * Streams a `Response`. Cancels its body when the client disconnects. Each part of the body, except of an event stream,
 * belongs to this answer: its memory is freed when it is written.
 */
export async function streamAnswer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: Response,
): Promise<void> {
  const { status, headers, body } = answer
  const rest = incoming.complete ? undefined : discardRest(incoming)
  // Unlike an object, it can have several cookies.
  outgoing.setHeaders(headers)
  outgoing.writeHead(status, rest === undefined ? {} : CLOSE_CONNECTION)
  let isDisconnected = false
  try {
    if (body !== null) {
      outgoing.flushHeaders()
      const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
      const cancel = () => {
        isDisconnected = true
        reader.cancel().catch(() => undefined)
      }
      const unwatch = onDisconnect(incoming, { isEndless: isEventStream(headers), callback: cancel })
      outgoing.on('error', cancel).once('close', unwatch)
      await pipe(reader, outgoing, isEventStream(headers) ? undefined : releaseBytes)
    }
    await rest
    // A cancelled body must not end with the final chunk: the client would take the body for complete.
    if (isDisconnected) incoming.socket.destroySoon()
    else outgoing.end()
  } catch {
    // The status line is already sent: breaking off the body is the only way left to report the failure.
    outgoing.destroy()
  }
}

async function pipe(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  outgoing: ServerResponse,
  onWritten: ((part: Uint8Array) => void) | undefined,
): Promise<void> {
  let inTurn = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    inTurn += value.byteLength
    const callback = onWritten === undefined ? undefined : () => onWritten(value)
    if (!outgoing.write(value, callback)) await drained(outgoing)
    if (inTurn < MAX_BYTES_PER_TURN) continue
    inTurn = 0
    await nextTurn()
  }
}

/**
 * How much of an answer is written in one turn of the event loop. A client that reads fast, and a body that is rendered
 * while it is read, would otherwise occupy the loop until the answer ends.
 */
const MAX_BYTES_PER_TURN = 64 * 1024

/** Resolves when more can be written, or when the answer has been closed. */
const drained = (outgoing: ServerResponse) =>
  new Promise<void>((resolve) => {
    const settle = () => {
      outgoing.off('drain', settle).off('close', settle)
      resolve()
    }
    if (outgoing.destroyed) resolve()
    else outgoing.on('drain', settle).on('close', settle)
  })
