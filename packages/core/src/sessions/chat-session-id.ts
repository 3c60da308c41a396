/** The form of the ids that the server derives for the sessions of chats: 130 bits in base 32. */
const CHAT_SESSION_ID = /^x[0-9a-v]{26}$/

/**
 * Whether only a chat may create a session under this id. Anybody can compute the id of a chat. A caller who could create
 * sessions under such ids could keep the chat from its own.
 */
export const isChatSessionId = (id: string): boolean => CHAT_SESSION_ID.test(id)

export const CHAT_SESSION_HINT = 'choose another id: the server keeps ids of this form for chats'
