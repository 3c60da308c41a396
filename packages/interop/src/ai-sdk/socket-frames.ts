import { isFields } from '@perdure/core'
import { isRefusal, parseStrictInTurns, type YieldTurn } from '@perdure/ports'

/** What `WebSocketChatTransport` sends. */
export type SocketRequest =
  | { readonly type: 'abort'; readonly requestId: string }
  | {
      readonly type: 'send'
      readonly requestId: string
      readonly chatId: string
      readonly body: Readonly<Record<string, unknown>>
      readonly key: string | undefined
    }
  | {
      readonly type: 'resume'
      readonly requestId: string
      readonly chatId: string
      /** The index of the first chunk that the client does not have. */
      readonly from: number
    }

/** What `WebSocketChatTransport` receives. `chunk` is the text of a chunk. */
export type SocketAnswer =
  | { readonly type: 'start' | 'end' | 'no-active'; readonly requestId: string }
  | { readonly type: 'error'; readonly requestId: string; readonly errorText: string }
  | { readonly type: 'chunk'; readonly requestId: string; readonly sequence: number; readonly chunk: string }

const MAX_ID = 512

interface Parsing {
  /** Maximum size of a frame. */
  readonly maxBytes: number
  readonly yieldTurn: YieldTurn
}

/** `undefined` for anything that the transport does not send. */
export async function parseSocketRequest(text: string, parsing: Parsing): Promise<SocketRequest | undefined> {
  const frame = await parse(text, parsing)
  if (!isFields(frame) || !isId(frame.requestId)) return undefined
  const { type, requestId, id: chatId, headers, body } = frame
  if (type === 'abort') return { type, requestId }
  if (!isId(chatId) || !isFields(headers) || !isFields(body)) return undefined
  if (type === 'resume') {
    const from = indexAfter(frame.lastSequence)
    return from === undefined ? undefined : { type, requestId, chatId, from }
  }
  if (type !== 'send') return undefined
  const { messages, trigger, messageId } = frame
  const key = headers['idempotency-key']
  const sent = { ...body, id: chatId, messages, trigger, messageId }
  return { type, requestId, chatId, body: sent, key: typeof key === 'string' ? key : undefined }
}

/** The index of the chunk after the last one that the client has. */
function indexAfter(sequence: unknown): number | undefined {
  if (sequence === undefined) return 0
  return Number.isSafeInteger(sequence) && Number(sequence) >= 0 ? Number(sequence) + 1 : undefined
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_ID

async function parse(text: string, parsing: Parsing): Promise<unknown> {
  try {
    return (await parseStrictInTurns(text, parsing)).value
  } catch (error) {
    if (isRefusal(error)) return undefined
    throw error
  }
}

export function formatSocketAnswer(answer: SocketAnswer): string {
  if (answer.type !== 'chunk') return JSON.stringify(answer)
  const { requestId, sequence, chunk } = answer
  return `{"type":"chunk","requestId":${JSON.stringify(requestId)},"sequence":${sequence},"chunk":${chunk}}`
}
