import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TextAnswer } from '@perdure/http'

/** Header of an answer that is sent before the whole request has arrived: the rest of the request is discarded. */
export const CLOSE_CONNECTION = { Connection: 'close' }

const DISCARD_MS = 500

/**
 * Writes a text answer. If the client is still sending its request, the answer announces `Connection: close`, and the
 * server keeps reading for a moment: closing at once would reset the connection before the client could read the
 * answer.
 */
export function writeAnswer(incoming: IncomingMessage, outgoing: ServerResponse, answer: TextAnswer): void {
  const { status, headers, text } = answer
  if (!incoming.complete) {
    outgoing.writeHead(status, { ...headers, ...CLOSE_CONNECTION }).flushHeaders()
    if (text !== null) outgoing.write(text)
    discardRest(incoming).then(() => outgoing.end())
    return
  }
  outgoing.writeHead(status, headers)
  if (text === null) outgoing.end()
  else outgoing.end(text)
}

/** Reads and drops the rest of a request. Resolves when the request has ended, or after half a second. */
export const discardRest = (incoming: IncomingMessage) =>
  new Promise<void>((resolve) => {
    const timeout = setTimeout(resolve, DISCARD_MS).unref()
    incoming.once('close', () => {
      clearTimeout(timeout)
      resolve()
    })
    incoming.resume()
  })
