import type { runOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { pageAnswer, partsAnswer } from '../response/page-answer.ts'
import { replayWith } from './replay.ts'

/** `/runs`: runs, their outcomes, events and log lines, resuming, repeating, replaying and aborting them. */
export const runRoutes = ({
  listRuns,
  readRuns,
  abortRun,
  editMessage,
  withdrawMessage,
  forkRun,
  resumeRun,
  replay,
  keepCase,
  openRunStream,
  openReplayStream,
}: Pick<
  UseCases,
  | 'listRuns'
  | 'readRuns'
  | 'abortRun'
  | 'editMessage'
  | 'withdrawMessage'
  | 'forkRun'
  | 'resumeRun'
  | 'replay'
  | 'keepCase'
  | 'openRunStream'
  | 'openReplayStream'
>): Handlers<typeof runOperations> => ({
  async listRuns({ query: { limit, cursor, order, ...query }, principal: { subject }, visibility }) {
    return pageAnswer(await listRuns({ query, subject, page: { limit, cursor, order }, visibility }))
  },
  getRun: async ({ params, visibility }) => ({ status: 200, body: await readRuns.get(params.runId, visibility) }),
  getRunState: async ({ params, visibility }) => partsAnswer(await readRuns.state(params.runId, visibility)),
  async getRunEvents({ params: { runId }, query, visibility, acceptsEventStream, ...call }) {
    if (acceptsEventStream) {
      const lastEventId = call.lastEventId || query.lastEventId || undefined
      return openRunStream({ runId, visibility, lastEventId, tokenId: call.principal.tokenId })
    }
    return pageAnswer(await readRuns.events(runId, query, visibility))
  },
  async getRunLogs({ params, query: { level, ...page }, visibility }) {
    return pageAnswer(await readRuns.logs({ runId: params.runId, level }, page, visibility))
  },
  getReceipt: async ({ params, visibility }) => ({
    status: 200,
    body: await readRuns.receipt(params.runId, visibility),
  }),
  editQueuedMessage: ({ params, body, principal, visibility, key }) =>
    editMessage({ ...params, ...body, principal, visibility, key }),
  withdrawQueuedMessage: ({ params, principal, visibility, key }) =>
    withdrawMessage({ ...params, principal, visibility, key }),
  forkRun: ({ params, body, principal, visibility, key, traceparent }) =>
    forkRun({ ...params, ...body, action: 'runs.fork', principal, visibility, key, traceparent }),
  retryRun: ({ params, body, principal, visibility, key, traceparent }) =>
    forkRun({ ...params, ...body, from: 'failure', action: 'runs.retry', principal, visibility, key, traceparent }),
  rerunRun: ({ params, body, principal, visibility, key, traceparent }) =>
    forkRun({ ...params, ...body, from: 'start', action: 'runs.rerun', principal, visibility, key, traceparent }),
  resumeRun: ({ params, body: { payload, approvals, toolResults }, principal, visibility, key }) =>
    resumeRun({ runId: params.runId, payload, approvals, toolResults, principal, visibility, key }),
  replayRun: replayWith({ replay, openReplayStream }, ({ runId }: { readonly runId: string }) => ({ runId })),
  async keepCase({ params, body: { raw = false }, principal, visibility, key }) {
    const { replayed, ...body } = await keepCase({ ...params, raw, principal, visibility, key })
    return { status: 200, body, ...(replayed && { replayed }) }
  },
  abortRun: ({ params, body, principal, visibility, key }) =>
    abortRun({ runId: params.runId, reason: body.reason, principal, visibility, key }),
})
