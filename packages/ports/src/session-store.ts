import { type Session, UpdateSessionRequest } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'
import type { JsonText } from './values/json-text.ts'
import type { WithStored } from './values/stored-text.ts'

/** A conversation that groups runs: the members of the API's `Session`. */
export interface SessionRecord extends Omit<Readonly<Session>, 'metadata' | 'createdAt' | 'updatedAt'> {
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs // last activity: a change, a message, or the end of a run
}

/** The fields that a session update can set; a missing member stays unchanged. */
export type SessionChange = Partial<Pick<SessionRecord, keyof typeof UpdateSessionRequest.entries>>

export type ChangingSession = Pick<SessionRecord, keyof SessionChange>

export const CHANGING_SESSION_FIELDS = Object.keys(UpdateSessionRequest.entries) as readonly (keyof SessionChange)[]

/** A session matches if it has every given value. */
export interface SessionFilter {
  readonly agentId?: string | undefined
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined // the session has all of these
}

/** Selects idle sessions, in the order in which they became idle. */
export interface IdleQuery {
  readonly until: EpochMs // last activity at or before this instant
  readonly limit: number
  /** The last session of the previous page. */
  readonly after?: Pick<SessionRecord, 'id' | 'updatedAt'> | undefined
}

export interface NewMessage {
  readonly id: string
  readonly sessionId: string
  readonly role: 'user' | 'assistant'
  readonly content: JsonText
  readonly runId?: string | undefined
  readonly createdAt: EpochMs
}

/** What a list of chats shows of a message. */
export interface MessageBrief {
  readonly agentId: string // of the turn that the message belongs to
  readonly text: string
}

export interface MessageRecord extends NewMessage {
  readonly seq: number // from 1, without gaps, per session
}

/** A message whose long content stays in the store. */
export type OutlinedMessage = WithStored<MessageRecord, 'content'>

/** Port. Reads sessions and transcripts; every write goes through `UnitOfWork`. Must pass `sessionStoreContract`. */
export interface SessionStore {
  find(id: string, visibility: Visibility): Promise<SessionRecord | undefined>
  /**
   * Lists visible sessions that match every given filter, as they are after their last change, ordered by creation (ties
   * by id).
   */
  list(filter: SessionFilter, page: PageQuery, visibility: Visibility): Promise<Page<SessionRecord>>
  /** Lists the transcript, ordered by `seq`. Empty for an unknown session. */
  messages(sessionId: string, page: PageQuery): Promise<Page<MessageRecord>>
  /** Lists the same pages as `messages`, but a content longer than `MAX_SHORT_BYTES` is a `StoredText`. */
  outlineMessages(sessionId: string, page: PageQuery): Promise<Page<OutlinedMessage>>
  /**
   * Lists sessions with `updatedAt <= until` that have no queued or running run, ordered by `updatedAt`, ties by id. A
   * suspended run does not keep its session busy.
   */
  idleSince(query: IdleQuery): Promise<readonly SessionRecord[]>
}
