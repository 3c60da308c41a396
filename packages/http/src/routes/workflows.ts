import type { workflowOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { pageAnswer, partsAnswer } from '../response/page-answer.ts'

type Deps = Pick<UseCases, 'readWorkflows' | 'startRun' | 'threads' | 'resumeWorkflow' | 'deleteThread'>

/** `/workflows`: registered workflows, their threads and checkpoints. */
export const workflowRoutes = ({
  readWorkflows,
  startRun,
  threads,
  resumeWorkflow,
  deleteThread,
}: Deps): Handlers<typeof workflowOperations> => ({
  listWorkflows: ({ query }) => ({ status: 200, body: readWorkflows.list(query) }),
  getWorkflow: ({ params }) => ({ status: 200, body: readWorkflows.get(params.workflowId) }),
  executeWorkflow({ params, body, principal, visibility, key, traceparent, prefer }) {
    const { waitMs } = prefer
    const answer = waitMs === undefined ? 'accepted' : 'outcome'
    return startRun({
      target: { kind: 'workflow', id: params.workflowId },
      body,
      principal,
      visibility,
      key,
      traceparent,
      answer,
      waitMs,
    })
  },
  resumeWorkflow: ({ params, body: { threadId, name, payload }, visibility, key }) =>
    resumeWorkflow({ workflowId: params.workflowId, threadId, name, payload, visibility, key }),
  getWorkflowState: async ({ params: { workflowId }, query: { threadId } }) =>
    partsAnswer(await threads.state({ workflowId, threadId })),
  listCheckpoints: async ({ params: { workflowId }, query: { threadId, ...page } }) =>
    pageAnswer(await threads.checkpoints({ workflowId, threadId }, page)),
  deleteThread: ({ params: { workflowId, threadId }, visibility, key }) =>
    deleteThread({ workflowId, threadId, visibility, key }),
})
