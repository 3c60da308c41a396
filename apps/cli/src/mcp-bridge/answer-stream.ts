import { statedVersion } from './message-headers.ts'
import { isRequest, isSubscription, parseMessage, type RpcId, type RpcMessage, type RpcRequest } from './rpc-message.ts'
import { type SseFrame, sseFrames } from './sse-frames.ts'

/** The streamed answer to one request, which may arrive over several connections. */
export interface AnswerStream {
  /** Where the next connection resumes; `undefined` if the request must be sent again. */
  lastEventId(): string | undefined
  /** Passes the messages of a connection on. Returns whether the answer is complete. */
  read(body: ReadableStream<Uint8Array>): Promise<boolean>
}

export function createAnswerStream(request: RpcRequest, write: (message: string) => void): AnswerStream {
  // A client without a handshake cannot resume.
  const isResumable = statedVersion(request) === undefined
  let lastEventId: string | undefined
  let passed = 0
  let known = 0
  let isComplete = false
  const questions = new Set<RpcId>()

  /**
   * How many messages that were passed on already the stream of a request that is sent again begins with: for a call all
   * of them. A subscription is acknowledged again, and then tells how things are now.
   */
  const repeated = (): number => (isSubscription(request) ? Math.min(passed, 1) : passed)

  const take = ({ id, data }: SseFrame): void => {
    if (isResumable) lastEventId = id ?? lastEventId
    if (data === '' || known-- > 0) return
    const message = parseMessage(data)
    if (message !== undefined && isRepeatedQuestion(message)) return
    write(data)
    passed += 1
    isComplete = isAnswer(message, request)
  }

  /** The server asks again when a stream is resumed; the bridge delivers the answer to the first question. */
  const isRepeatedQuestion = (message: RpcMessage): boolean => {
    if (!isRequest(message)) return false
    const isRepeated = questions.has(message.id)
    questions.add(message.id)
    return isRepeated
  }

  return {
    lastEventId: () => lastEventId,
    async read(body) {
      known = lastEventId === undefined ? repeated() : 0
      try {
        for await (const frame of sseFrames(body)) {
          take(frame)
          if (isComplete) break
        }
      } catch (error) {
        // A connection that breaks after the answer is complete fails when the loop leaves the body.
        if (!isComplete) throw error
      }
      return isComplete
    },
  }
}

const isAnswer = (message: RpcMessage | undefined, { id }: RpcRequest): boolean =>
  message?.id === id && message.method === undefined
