import { type Digest, EVERY_ROW, perdureError, type SessionRecord, type SessionStore } from '@perdure/ports'
import { OPERATOR_ID } from '@perdure/protocol'

/** The metadata by which a session remembers the id that a client gave to its chat. */
export const EXTERNAL_CHAT_ID = 'interop.id'
/** The metadata by which a turn remembers the id that a client gave to its message or request. */
export const MESSAGE_REF = 'interop.ref'
/** The id that the client gave to the last message of a turn, where `MESSAGE_REF` is something else. */
export const MESSAGE_ID = 'interop.message'

/** The form of the ids that the server derives for the sessions of chats: 130 bits in base 32. */
const CHAT_SESSION_ID = /^x[0-9a-v]{26}$/

/**
 * Whether only a chat may create a session under this id. Anybody can compute the id of a chat. A caller who could create
 * sessions under such ids could keep the chat from its own.
 */
export const isChatSessionId = (id: string): boolean => CHAT_SESSION_ID.test(id)

export const CHAT_SESSION_HINT = 'choose another id: the server keeps ids of this form for chats'

export interface FindChatSessionDeps {
  readonly sessions: Pick<SessionStore, 'find'>
  readonly digest: Pick<Digest, 'sha256'>
}

export interface ChatSession {
  readonly id: string
  /** `undefined` before the first message. */
  readonly session: SessionRecord | undefined
}

/**
 * The session of a chat. An id of a session that the caller owns names that session. Any other id names a session of the
 * caller: equal ids of two callers never meet, and an id can have any form. Only chats create sessions under derived ids.
 * Sessions that others had created under them before that was so are left alone, and the next derived id is used.
 *
 * @throws PerdureError `validation-failed` if others have taken all of a bounded number of derived ids
 */
export async function findChatSession(
  { sessions, digest }: FindChatSessionDeps,
  subject: string,
  chatId: string,
): Promise<ChatSession> {
  const named = OPERATOR_ID.test(chatId) ? await sessions.find(chatId, EVERY_ROW) : undefined
  if (named?.owner === subject) return { id: chatId, session: named }
  for (let taken = 0; taken < MAX_DERIVED_IDS; taken++) {
    const id = derivedId(digest, subject, taken === 0 ? chatId : `${chatId}\0${taken}`)
    const session = await sessions.find(id, EVERY_ROW)
    if (session === undefined || session.owner === subject) return { id, session }
  }
  throw perdureError('validation-failed', {
    message: `the chat id ${JSON.stringify(chatId)} cannot be used: other callers have taken all sessions that it can name`,
    hint: 'choose another id for the chat',
  })
}

const MAX_DERIVED_IDS = 16

/** 130 bits of the hash, in base 32. */
function derivedId(digest: Pick<Digest, 'sha256'>, owner: string, chatId: string): string {
  const hash = BigInt(`0x${digest.sha256(`${owner}\0${chatId}`)}`)
  return `x${(hash >> 126n).toString(32).padStart(26, '0')}`
}
