import type { IncomingMessage, ServerResponse } from 'node:http'
import { isResponse, type Outgoing, type TextAnswer } from '@perdure/http'

/**
 * Sends the answer that is coming. To a client that is still sending it says that the connection ends; what comes is read for
 * a moment before it does, so that the client gets to see the answer.
 */
export async function sendAnswer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  coming: Promise<Outgoing>,
): Promise<void> {
  const answer = await noted(coming)
  if (isResponse(answer)) return stream(incoming, outgoing, answer)
  return new Promise((resolve, reject) => {
    if (due.push({ incoming, outgoing, answer, resolve, reject }) === 1) writeSoon()
    else if (due.length >= MOST_DUE) writeDueToWhole()
  })
}

/** How many answers are coming. */
let underWay = 0
/** Whether a request was read in this turn of the event loop, so that others may follow. */
let isReading = false

async function noted(coming: Promise<Outgoing>): Promise<Outgoing> {
  noteReading()
  underWay++
  try {
    return await coming
  } finally {
    underWay--
  }
}

function noteReading(): void {
  if (isReading) return
  isReading = true
  setImmediate(() => {
    isReading = false
  })
}

/** At the end of the turn with those that come by then; at once where there is no other to wait for. */
function writeSoon(): void {
  if (isReading || underWay > 0) setImmediate(writeDueAnswers)
  else process.nextTick(writeDueAnswers)
}

interface Due {
  readonly incoming: IncomingMessage
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
  writeAll(answers)
}

/** Of the request that is being read at this moment the end may be there and not yet seen: its answer waits. */
function writeDueToWhole(): void {
  const answers = due.filter(({ incoming }) => incoming.complete)
  due = due.filter(({ incoming }) => !incoming.complete)
  writeAll(answers)
}

function writeAll(answers: readonly Due[]): void {
  for (const { incoming, outgoing, answer, resolve, reject } of answers) {
    try {
      writeAnswer(incoming, outgoing, answer)
      resolve()
    } catch (cause) {
      reject(cause)
    }
  }
}

/** The same at once. */
export function writeAnswer(incoming: IncomingMessage, outgoing: ServerResponse, answer: TextAnswer): void {
  const { status, headers, text } = answer
  if (!incoming.complete) {
    outgoing.writeHead(status, { ...headers, ...LAST }).flushHeaders()
    if (text !== null) outgoing.write(text)
    restOf(incoming).then(() => outgoing.end())
    return
  }
  outgoing.writeHead(status, headers)
  if (text === null) outgoing.end()
  else outgoing.end(text)
}

const LAST = { Connection: 'close' }

async function stream(incoming: IncomingMessage, outgoing: ServerResponse, answer: Response): Promise<void> {
  const { status, headers, body } = answer
  const rest = incoming.complete ? undefined : restOf(incoming)
  outgoing.writeHead(status, { ...Object.fromEntries(headers), ...(rest === undefined ? {} : LAST) })
  let hasLeft = false
  try {
    if (body !== null) {
      outgoing.flushHeaders()
      const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
      const stop = () => {
        hasLeft = true
        reader.cancel().catch(() => undefined)
      }
      const unwatch = whenLeft(incoming, headers, stop)
      outgoing.on('error', stop).once('close', unwatch)
      await pass(reader, outgoing)
    }
    await rest
    // What did not come to its end must not look as if it had.
    if (hasLeft) incoming.socket.destroySoon()
    else outgoing.end()
  } catch {
    // The head is out: a body that breaks off is all that says so.
    outgoing.destroy()
  }
}

const EVENTS = 'text/event-stream'

/**
 * Calls `left` once nobody reads the answer any more, also when that is so already. A client that waits for an answer may
 * have ended its half of the connection; one that listens to events has left. Returns a function that ends the watch.
 */
function whenLeft({ socket }: IncomingMessage, headers: Headers, left: () => void): () => void {
  const isEndless = headers.get('content-type')?.startsWith(EVENTS) === true
  if (socket.destroyed || (isEndless && socket.readableEnded)) left()
  socket.once('close', left)
  if (isEndless) socket.once('end', left)
  return () => void socket.off('close', left).off('end', left)
}

async function pass(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    if (!outgoing.write(value)) await room(outgoing)
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

/** Resolves when the client has sent all of its request, or for longer than anybody listens. */
const restOf = (incoming: IncomingMessage) =>
  new Promise<void>((resolve) => {
    const cut = setTimeout(resolve, DISCARD_MS).unref()
    incoming.once('close', () => {
      clearTimeout(cut)
      resolve()
    })
    incoming.resume()
  })
