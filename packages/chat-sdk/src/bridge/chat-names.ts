import { createHash } from 'node:crypto'
import { CHAT_SUBJECT_PREFIX } from '@perdure/protocol'
import type { ChatUser } from './chat-event.ts'

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Subjects have at most 128 visible ASCII characters; ids of users of some platforms are longer. */
const MAX_USER_ID = 64
const PLAIN_USER_ID = /^[\x21-\x7e]{1,64}$/

/** How the subjects of the users of an adapter begin. */
export const subjectPrefixOf = (adapter: string): string => `${CHAT_SUBJECT_PREFIX}${adapter}:`

/** The subject of a user of a platform: it owns the runs that the user's messages start. */
export const subjectOf = ({ adapter, userId }: Pick<ChatUser, 'adapter' | 'userId'>): string =>
  `${subjectPrefixOf(adapter)}${PLAIN_USER_ID.test(userId) ? userId : hashOf(userId).slice(0, MAX_USER_ID)}`

const MAX_READABLE = 80

/** How the ids of the sessions of threads begin. */
export const SESSION_PREFIX = 'chat-'

/** The session of a thread. The hash keeps threads apart whose ids differ only in other characters. */
export const sessionIdOf = (threadId: string): string =>
  `${SESSION_PREFIX}${threadId.replaceAll(/[^A-Za-z0-9]/g, '-').slice(0, MAX_READABLE)}-${hashOf(threadId).slice(0, 16)}`

/** The event that wakes the follower of a run. */
export const wakeEventOf = (runId: string): string => `chat-bridge.${runId}`

/** A key that a platform's id makes unique; keys have at most 255 visible ASCII characters. */
export const keyOf = (...parts: readonly string[]): string => `chat-${hashOf(JSON.stringify(parts))}`
