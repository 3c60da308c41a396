import type { agentOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

/** `/agents`: registered agents, their state, starting and aborting runs. */
export const agentRoutes = ({
  readAgents,
  startRun,
  abortAgent,
}: Pick<UseCases, 'readAgents' | 'startRun' | 'abortAgent'>): Handlers<typeof agentOperations> => ({
  listAgents: ({ query }) => ({ status: 200, body: readAgents.list(query) }),
  getAgent: ({ params }) => ({ status: 200, body: readAgents.get(params.agentId) }),
  getAgentState: ({ params }) => ({ status: 200, body: readAgents.state(params.agentId) }),
  runAgent({ params, body, principal, key, traceparent, prefer }) {
    const { answer, waitMs } = prefer
    return startRun({
      target: { kind: 'agent', id: params.agentId },
      body,
      principal,
      key,
      traceparent,
      answer,
      waitMs,
    })
  },
  streamAgent: ({ params, body, principal, key, traceparent }) =>
    startRun({ target: { kind: 'agent', id: params.agentId }, body, principal, key, traceparent, answer: 'accepted' }),
  abortAgent: ({ params, body, visibility, key }) =>
    abortAgent({ agentId: params.agentId, reason: body.reason, visibility, key }),
})
