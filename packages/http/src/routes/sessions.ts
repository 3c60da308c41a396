import type { sessionOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { ndjsonResponse } from '../response/ndjson.ts'
import { pageAnswer } from '../response/page-answer.ts'
import { replayWith } from './replay.ts'

type Deps = Pick<
  UseCases,
  | 'readSessions'
  | 'createSession'
  | 'updateSession'
  | 'deleteSession'
  | 'exportSession'
  | 'replay'
  | 'openReplayStream'
  | 'openSessionStream'
>

/** `/sessions`: sessions with their transcripts, runs, exports, replays and events. */
export const sessionRoutes = (deps: Deps): Handlers<typeof sessionOperations> => ({
  async listSessions({ query: { limit, cursor, order, ...filter }, visibility }) {
    return { status: 200, body: await deps.readSessions.list(filter, { limit, cursor, order }, visibility) }
  },
  createSession: ({ body, principal, key }) => deps.createSession({ body, principal, key }),
  getSession: async ({ params, visibility }) => ({
    status: 200,
    body: await deps.readSessions.get(params.sessionId, visibility),
  }),
  updateSession: ({ params, body, visibility, key }) =>
    deps.updateSession({ sessionId: params.sessionId, change: body, visibility, key }),
  deleteSession: ({ params, visibility, principal, key }) =>
    deps.deleteSession({ sessionId: params.sessionId, visibility, principal, key }),
  listMessages: async ({ params, query, visibility }) =>
    pageAnswer(await deps.readSessions.messages(params.sessionId, query, visibility)),
  async listQueuedMessages({ params, query, visibility }) {
    return { status: 200, body: await deps.readSessions.queue(params.sessionId, query, visibility) }
  },
  listSessionRuns: async ({ params, query, visibility }) =>
    pageAnswer(await deps.readSessions.runs(params.sessionId, query, visibility)),
  exportSession: async ({ params, visibility, principal }) =>
    ndjsonResponse(await deps.exportSession({ sessionId: params.sessionId, visibility, principal })),
  getSessionEvents: ({ params: { sessionId }, query, principal, visibility, lastEventId }) =>
    deps.openSessionStream({
      ...{ sessionId, visibility, tokenId: principal.tokenId },
      lastEventId: lastEventId || query.lastEventId || undefined,
    }),
  replaySession: replayWith(deps, ({ sessionId }: { readonly sessionId: string }) => ({ sessionId })),
})
