import type { KeyedRequest, KeyRequest } from '@perdure/core'
import type { Digest } from '@perdure/ports'
import type { ChatCall } from './chat-call.ts'

export interface ClientKeyDeps {
  readonly keyRequest: KeyRequest
  readonly basePath: string
  readonly digest: Pick<Digest, 'sha256'>
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
 * run that the first one started. Two pairs of ids never have one key: between them is `%20`, which no escaped id contains.
 * Long keys are hashed.
 */
export async function clientKey(
  { keyRequest, basePath, digest }: ClientKeyDeps,
  { agentId, principal: { subject }, visibility }: ChatCall,
  { route, chatId, ref, content }: Sent,
): Promise<KeyedRequest> {
  const path = `${basePath}/agents/${encodeURIComponent(agentId)}/${route}`
  const identity = { subject, method: 'POST', path, query: [['chat', chatId]] as const, body: content }
  const ids = `${escaped(chatId)}%20${escaped(ref)}`
  const key = ids.length > MAX_KEY ? digest.sha256(ids) : ids
  return { ...(await keyRequest(identity, key)), visibility }
}

/** Every other character is `%u` and its four digits. */
const escaped = (id: string): string =>
  id.replace(/[^\x21-\x24\x26-\x7e]/g, (char) => `%u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
