import type { agUiOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { toProtocolCall } from './ai-sdk.ts'

/** `/agents/:agentId/ag-ui`: the protocol AG-UI. */
export const agUiRoutes = ({
  agUi,
  readAgents,
}: Pick<UseCases, 'agUi' | 'readAgents'>): Handlers<typeof agUiOperations> => ({
  runAgUi: (call) => agUi.run(toProtocolCall(call), call.body),
  connectAgUi: (call) => agUi.connect(toProtocolCall(call), call.params.runId),
  getAgUiCapabilities({ params: { agentId } }) {
    readAgents.get(agentId)
    return { status: 200, body: CAPABILITIES }
  },
})

const CAPABILITIES = {
  transport: { streaming: true, resumable: true },
  state: { snapshots: true, deltas: true },
  reasoning: { supported: true },
  humanInTheLoop: { supported: true, approvals: true, interrupts: true },
  multiAgent: { supported: true, subAgents: true },
}
