import type { IncomingMessage, ServerResponse } from 'node:http'
import { isResponse, type Outgoing, type TextAnswer } from '@berth/http'

/** Sends an answer; what the client still sends is read for a moment, so that it gets to see the answer. */
export async function sendAnswer(incoming: IncomingMessage, outgoing: ServerResponse, answer: Outgoing): Promise<void> {
  if (!incoming.complete) outgoing.once('close', () => discardRest(incoming))
  if (isResponse(answer)) return stream(outgoing, answer)
  return new Promise((resolve, reject) => {
    if (due.push({ outgoing, answer, resolve, reject }) === 1) setImmediate(writeDueAnswers)
    else if (due.length === MOST_DUE) writeDueAnswers()
  })
}

interface Due {
  readonly outgoing: ServerResponse
  readonly answer: TextAnswer
  resolve(): void
  reject(cause: unknown): void
}

const MOST_DUE = 32

/** The answers of one turn of the event loop. Written in a row they wake their reader once; each on its own would, every time. */
let due: Due[] = []

/** Writes at once what is decided and would be written at the end of the turn. */
export function writeDueAnswers(): void {
  const answers = due
  due = []
  for (const { outgoing, answer, resolve, reject } of answers) {
    try {
      write(outgoing, answer)
      resolve()
    } catch (cause) {
      reject(cause)
    }
  }
}

function write(outgoing: ServerResponse, { status, headers, text }: TextAnswer): void {
  outgoing.writeHead(status, headers)
  if (text === null) outgoing.end()
  else outgoing.end(text)
}

async function stream(outgoing: ServerResponse, { status, headers, body }: Response): Promise<void> {
  outgoing.writeHead(status, Object.fromEntries(headers))
  if (body === null) return void outgoing.end()
  outgoing.flushHeaders()
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  outgoing.on('close', stop).on('error', stop)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!outgoing.write(value)) await room(outgoing)
    }
    outgoing.end()
  } catch {
    // The head is out: a body that breaks off is all that says so.
    outgoing.destroy()
  }
}

/** Resolves when more can be written, or nothing ever. */
const room = (outgoing: ServerResponse) =>
  new Promise<void>((resolve) => {
    const settle = () => {
      outgoing.off('drain', settle).off('close', settle)
      resolve()
    }
    if (outgoing.destroyed) resolve()
    else outgoing.on('drain', settle).on('close', settle)
  })

const DISCARD_MS = 500

function discardRest(incoming: IncomingMessage): void {
  const { socket } = incoming
  if (incoming.complete || socket.destroyed) return
  const cut = setTimeout(() => socket.destroySoon(), DISCARD_MS).unref()
  incoming.once('close', () => clearTimeout(cut)).resume()
}
