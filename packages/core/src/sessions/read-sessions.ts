import {
  EVERY_ROW,
  type Page,
  type PageQuery,
  perdureError,
  type RunStore,
  type SessionFilter,
  type SessionRecord,
  type SessionStore,
  type Visibility,
} from '@perdure/ports'
import type { PageItem } from '../json/json-page.ts'
import type { IncludedContent } from '../runs/read-runs.ts'
import { renderListedRun } from '../runs/run-outcome.ts'
import { type QueuedMessageResource, toQueuedMessage } from './queued-message-resource.ts'
import { type SessionResource, toSessionResource } from './session-resource.ts'
import { renderMessages } from './withdrawn-messages.ts'

export interface ReadSessionsDeps {
  readonly sessions: SessionStore
  readonly runs: RunStore
  readonly basePath: string
}

export interface SessionRunsQuery extends PageQuery {
  readonly include?: readonly IncludedContent[] | undefined
}

/** Reads sessions for the API. Throws `session-not-found` for a session that the caller cannot see. */
export interface ReadSessions {
  list(filter: SessionFilter, page: PageQuery, visibility: Visibility): Promise<Page<SessionResource>>
  get(sessionId: string, visibility: Visibility): Promise<SessionResource>
  /**
   * A page of the transcript, each message as JSON. A caller that can see a session can also see its transcript and its
   * runs.
   */
  messages(sessionId: string, page: PageQuery, visibility: Visibility): Promise<Page<PageItem>>
  /** A page of the messages that wait for their agents. */
  queue(sessionId: string, page: PageQuery, visibility: Visibility): Promise<Page<QueuedMessageResource>>
  /** A page of runs, each as JSON; with `input` and `result` only if `include` names them. */
  runs(sessionId: string, page: SessionRunsQuery, visibility: Visibility): Promise<Page<PageItem>>
}

export function createReadSessions({ sessions, runs, basePath }: ReadSessionsDeps): ReadSessions {
  return {
    async list(filter, page, visibility) {
      const { items, nextCursor } = await sessions.list(filter, page, visibility)
      return { items: items.map(toSessionResource), nextCursor }
    },
    get: async (sessionId, visibility) => toSessionResource(await findSession(sessions, sessionId, visibility)),
    async messages(sessionId, page, visibility) {
      await findSession(sessions, sessionId, visibility)
      const { items, nextCursor } = await sessions.outlineMessages(sessionId, page)
      return { items: await renderMessages(runs, items), nextCursor }
    },
    async queue(sessionId, page, visibility) {
      await findSession(sessions, sessionId, visibility)
      const filter = { kind: 'agent', sessionId, isTurn: true, statuses: ['queued'] } as const
      const { items, nextCursor } = await runs.list(filter, { ...page, content: ['input'] }, EVERY_ROW)
      return { items: items.map(toQueuedMessage), nextCursor }
    },
    async runs(sessionId, { include: content = [], ...page }, visibility) {
      await findSession(sessions, sessionId, visibility)
      const { items, nextCursor } = await runs.outline({ sessionId }, { ...page, content }, EVERY_ROW)
      return { items: items.map((run) => renderListedRun(run, basePath)), nextCursor }
    },
  }
}

/** @throws PerdureError `session-not-found` */
export async function findSession(
  sessions: Pick<SessionStore, 'find'>,
  id: string,
  visibility: Visibility,
): Promise<SessionRecord> {
  const session = await sessions.find(id, visibility)
  if (session === undefined) throw perdureError('session-not-found')
  return session
}
