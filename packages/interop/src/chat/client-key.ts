import type { KeyedRequest, KeyRequest } from '@perdure/core'
import type { ChatCall } from './chat-call.ts'

export interface ClientKeyDeps {
  readonly keyRequest: KeyRequest
  readonly basePath: string
}

interface Sent {
  /** The last segment of the path. */
  readonly route: string
  /** The ids that the client gave to the chat, and to the message or run that it sends. */
  readonly chatId: string
  readonly ref: string
  /** What a repeated request must not change. */
  readonly content: object
}

const MAX_KEY = 255

/**
 * The key of a request that is sent without an Idempotency-Key: a client that repeats the request gets the stream of the
 * run that the first one started. `undefined` if the ids are too long.
 */
export async function clientKey(
  { keyRequest, basePath }: ClientKeyDeps,
  { agentId, principal: { subject }, visibility }: ChatCall,
  { route, chatId, ref, content }: Sent,
): Promise<KeyedRequest | undefined> {
  const path = `${basePath}/agents/${encodeURIComponent(agentId)}/${route}`
  const identity = { subject, method: 'POST', path, query: [['chat', chatId]] as const, body: content }
  const key = `${chatId} ${ref}`.replace(/[^\x21-\x7e]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return key.length > MAX_KEY ? undefined : { ...(await keyRequest(identity, key)), visibility }
}
