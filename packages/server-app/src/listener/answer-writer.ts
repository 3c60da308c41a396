import type { IncomingMessage, ServerResponse } from 'node:http'
import { isResponse, isStream, type Outgoing, type TextAnswer } from '@perdure/http'
import { isEventStream } from './event-stream.ts'
import { streamAnswer } from './stream-answer.ts'
import { writeAnswer } from './write-answer.ts'
import { writeStream } from './write-stream.ts'

/** Sends the answers of one listener. Answers of the same turn of the event loop are written as one batch. */
export interface AnswerWriter {
  /** Sends the answer once `pending` resolves. Resolves when the answer has been passed to the connection. */
  send(incoming: IncomingMessage, outgoing: ServerResponse, pending: Promise<Outgoing>): Promise<void>
  /** Writes all answers that are ready immediately, instead of at the end of the turn. */
  flush(): void
}

interface DecidedAnswer {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly answer: TextAnswer
  resolve(): void
  reject(cause: unknown): void
}

const MAX_BATCH = 32

export interface AnswerWriterOptions {
  /** Called before an endless answer is streamed. */
  readonly onEventStream: (incoming: IncomingMessage, outgoing: ServerResponse) => void
}

export function createAnswerWriter({ onEventStream }: AnswerWriterOptions): AnswerWriter {
  let pendingCount = 0
  // Whether a request has arrived in this turn of the event loop: more may follow.
  let isReading = false
  // Answers are written together: a client with several connections then wakes up once per batch, not once per answer.
  let batch: DecidedAnswer[] = []

  const endReading = () => {
    isReading = false
  }

  const noteReading = () => {
    if (isReading) return
    isReading = true
    setImmediate(endReading)
  }

  const decided = async (pending: Promise<Outgoing>): Promise<Outgoing> => {
    noteReading()
    pendingCount++
    try {
      return await pending
    } finally {
      pendingCount--
    }
  }

  const flush = () => {
    const answers = batch
    batch = []
    writeAll(answers)
  }

  // Skips incomplete requests. The end of the request being parsed may already be buffered, and writing the answer
  // before that end is parsed would close the connection.
  const flushComplete = () => {
    const answers = batch.filter(({ incoming }) => incoming.complete)
    batch = batch.filter(({ incoming }) => !incoming.complete)
    writeAll(answers)
  }

  // Waits until the end of the turn only if another answer could join the batch by then.
  const writeSoon = () => {
    if (isReading || pendingCount > 0) setImmediate(flush)
    else process.nextTick(flush)
  }

  return {
    async send(incoming, outgoing, pending) {
      const answer = await decided(pending)
      if (isStream(answer)) {
        onEventStream(incoming, outgoing)
        return writeStream(incoming, outgoing, answer)
      }
      if (isResponse(answer)) {
        if (isEventStream(answer.headers)) onEventStream(incoming, outgoing)
        return streamAnswer(incoming, outgoing, answer)
      }
      return new Promise((resolve, reject) => {
        if (batch.push({ incoming, outgoing, answer, resolve, reject }) === 1) writeSoon()
        else if (batch.length >= MAX_BATCH) flushComplete()
      })
    },
    flush,
  }
}

function writeAll(answers: readonly DecidedAnswer[]): void {
  for (const { incoming, outgoing, answer, resolve, reject } of answers) {
    try {
      writeAnswer(incoming, outgoing, answer)
      resolve()
    } catch (cause) {
      reject(cause)
    }
  }
}
