import {
  definedMembers,
  type NewEvent,
  perdureError,
  type SessionChange,
  type SessionRecord,
  type SessionStore,
  type Visibility,
  type Write,
} from '@perdure/ports'
import { isReservedKey, RESERVED_METADATA } from '@perdure/protocol'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { findSession } from './read-sessions.ts'
import { recordEvent } from './session-insertion.ts'
import { toSessionResource } from './session-resource.ts'

export interface UpdateSessionDeps extends CommitOnceDeps {
  readonly sessions: SessionStore
}

/**
 * Sets these fields; omitted members stay unchanged.
 * @throws PerdureError `session-not-found`; `validation-failed` for other values of the metadata of the server
 */
export type UpdateSession = (request: {
  readonly sessionId: string
  readonly change: SessionChange
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
  /** Makes the answer, which is also stored under the key. By default, the answer contains the session. */
  readonly replyOf?: (session: SessionRecord) => Reply
}) => Promise<Reply>

export function createUpdateSession(deps: UpdateSessionDeps): UpdateSession {
  const { sessions, clock } = deps

  const updated = (session: SessionRecord): Reply => ({ status: 200, body: toSessionResource(session) })

  return async ({ sessionId, change, visibility, key, replyOf = updated }) => {
    const once = await commitOnce(deps, key, async () => {
      const session = await findSession(sessions, sessionId, visibility)
      const { changed, write, event } = changeSession(session, change, clock.now())
      return {
        writes: [write, { type: 'event.append', events: [event] }],
        reply: replyOf(changed),
        remember: true,
        contentOf: sessionId,
      }
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

/**
 * The session after a change, and the writes that store it with its event. A concurrent change makes the writes
 * conflict.
 *
 * @throws PerdureError `validation-failed` if the change sets metadata of the server to another value
 */
export function changeSession(
  session: SessionRecord,
  { metadata: sent = session.metadata, ...rest }: SessionChange,
  at: SessionRecord['updatedAt'],
): { readonly changed: SessionRecord; readonly write: Write; readonly event: NewEvent } {
  checkReserved(sent, session.metadata)
  const metadata = { ...sent, ...reservedIn(session.metadata) }
  const change = { ...definedMembers(rest), metadata }
  const changed: SessionRecord = { ...session, ...change, updatedAt: at }
  return {
    changed,
    write: { type: 'session.update', id: session.id, from: session, change, at },
    event: recordEvent(changed, 'session.updated'),
  }
}

/** A caller that sends back what it has read changes nothing of the server. */
function checkReserved(sent: SessionRecord['metadata'], stored: SessionRecord['metadata']): void {
  const changed = Object.keys(sent).find(
    (key) => isReservedKey(key) && (!Object.hasOwn(stored, key) || sent[key] !== stored[key]),
  )
  if (changed === undefined) return
  throw perdureError('validation-failed', {
    message: `body.metadata.${changed}: the server keeps its own value there`,
    hint: `leave out keys that start with ${RESERVED_METADATA}, or send them as the session has them`,
  })
}

/** The values of the server, which no caller replaces. */
const reservedIn = (metadata: SessionRecord['metadata']): SessionRecord['metadata'] =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => isReservedKey(key)))
