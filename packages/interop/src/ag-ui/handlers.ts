import { toChatCall } from '../chat/chat-call.ts'
import type { Handlers } from '../handlers.ts'
import { type AgUiDeps, createAgUi } from './create-ag-ui.ts'

/** `/agents/:agentId/ag-ui`: the protocol AG-UI. */
export function agUiHandlers(deps: AgUiDeps): Handlers<'agUi'> {
  const agUi = createAgUi(deps)
  return {
    runAgUi: (call) => agUi.run(toChatCall(call), call.body),
    connectAgUi: (call) => agUi.connect(toChatCall(call), call.params.runId),
    getAgUiCapabilities({ params: { agentId } }) {
      deps.targets.get('agent', agentId)
      return { status: 200, body: CAPABILITIES }
    },
  }
}

const CAPABILITIES = {
  transport: { streaming: true, resumable: true },
  state: { snapshots: true, deltas: true },
  reasoning: { supported: true },
  humanInTheLoop: { supported: true, approvals: true, interrupts: true },
  multiAgent: { supported: true, subAgents: true },
}
