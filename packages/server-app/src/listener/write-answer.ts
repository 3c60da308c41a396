import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TextAnswer } from '@perdure/http'
import { endOfPart } from '@perdure/ports'

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
  else if (text.length <= PART_LENGTH) outgoing.end(text)
  else writeParts(outgoing, text)
}

/** Length of the parts in which a long text is written, in characters. */
const PART_LENGTH = 128 * 1024

/**
 * Writes a long text part by part, as fast as the client reads. Writing it at once would encode it in one turn of the
 * event loop and hold a second copy of it until the client has read it.
 */
function writeParts(outgoing: ServerResponse, text: string): void {
  let position = 0
  const writeNext = (): void => {
    while (position < text.length && !outgoing.destroyed) {
      const end = endOfPart(text, position + PART_LENGTH)
      const part = text.slice(position, end)
      position = end
      if (!outgoing.write(part)) {
        outgoing.once('drain', writeNext)
        return
      }
    }
    outgoing.end()
  }
  writeNext()
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
