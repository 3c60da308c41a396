import type { Principal } from '@perdure/core'
import {
  type Digest,
  EVERY_ROW,
  type ListedRun,
  type RunStore,
  type SessionStore,
  type Visibility,
} from '@perdure/ports'
import { ACTIVE_RUN_STATUSES, OPERATOR_ID } from '@perdure/protocol'

export interface ChatSessionDeps {
  readonly sessions: Pick<SessionStore, 'find'>
  readonly runs: Pick<RunStore, 'list' | 'find'>
  readonly digest: Pick<Digest, 'sha256'>
}

/** The metadata by which a session and a run remember the ids of a client. */
export const EXTERNAL_ID = 'interop.id'
export const PROTOCOL = 'interop.protocol'
export const MESSAGE_REF = 'interop.ref'
/** The id that the client gave to the last message of a turn, where `MESSAGE_REF` is something else. */
export const MESSAGE_ID = 'interop.message'

export const MAX_METADATA = 512

/**
 * The session of a chat. An id of a session that the caller owns names that session. Any other id names a session of the
 * caller: equal ids of two callers never meet, and an id can have any form. Only chats create sessions under derived ids.
 * Sessions that others had created under them before that was so are left alone, and the next derived id is used.
 */
export async function chatSessionId(
  { sessions, digest }: ChatSessionDeps,
  { subject }: Pick<Principal, 'subject'>,
  externalId: string,
): Promise<string> {
  const named = OPERATOR_ID.test(externalId) ? await sessions.find(externalId, EVERY_ROW) : undefined
  if (named?.owner === subject) return externalId
  for (let taken = 0; ; taken++) {
    const id = derivedId(digest, subject, taken === 0 ? externalId : `${externalId}\0${taken}`)
    const session = await sessions.find(id, EVERY_ROW)
    if (session === undefined || session.owner === subject) return id
  }
}

/** 130 bits of the hash, in base 32. */
function derivedId(digest: Pick<Digest, 'sha256'>, owner: string, externalId: string): string {
  const hash = BigInt(`0x${digest.sha256(`${owner}\0${externalId}`)}`)
  return `x${(hash >> 126n).toString(32).padStart(26, '0')}`
}

export interface ChatRuns {
  readonly agentId: string
  readonly sessionId: string
  readonly visibility: Visibility
}

/** A run without its input and its result, which can be long. */
export type BriefRun = ListedRun<never>

/** The newest turns of a chat, newest first: neither the children of runs, nor turns that others have replaced. */
export async function newestRuns(
  { runs }: ChatSessionDeps,
  { agentId, sessionId, visibility }: ChatRuns,
  limit: number,
): Promise<readonly BriefRun[]> {
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true } as const
  const found: BriefRun[] = []
  let cursor: string | undefined
  do {
    const pageLimit = Math.min(limit - found.length, MAX_PAGE)
    const page = await runs.list(filter, { limit: pageLimit, order: 'desc', cursor, content: [] }, visibility)
    found.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined && found.length < limit)
  return found
}

const MAX_PAGE = 200

/** The newest turn of a chat. */
export async function newestRun(
  { runs }: ChatSessionDeps,
  { agentId, sessionId, visibility }: ChatRuns,
): Promise<ListedRun | undefined> {
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true } as const
  return (await runs.list(filter, { limit: 1, order: 'desc' }, visibility)).items[0]
}

/** The oldest turn of a chat that has not ended: the others wait for it. */
export async function workingRun(
  { runs }: Pick<ChatSessionDeps, 'runs'>,
  { agentId, sessionId, visibility }: ChatRuns,
): Promise<ListedRun | undefined> {
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true, statuses: ACTIVE_RUN_STATUSES } as const
  return (await runs.list(filter, { limit: 1, order: 'asc' }, visibility)).items[0]
}

/** The newest turn of the chat that remembers this value. */
export async function turnWith(
  { runs }: Pick<ChatSessionDeps, 'runs'>,
  { agentId, sessionId, visibility }: ChatRuns,
  metadata: Readonly<Record<string, string>>,
): Promise<BriefRun | undefined> {
  const filter = { kind: 'agent', targetId: agentId, sessionId, isTurn: true, metadata } as const
  return (await runs.list(filter, { limit: 1, order: 'desc', content: [] }, visibility)).items[0]
}
