import { perdureError } from '@perdure/ports'
import { toChatCall } from '../chat/chat-call.ts'
import type { Handlers } from '../handlers.ts'
import { type AgUiDeps, createAgUi } from './create-ag-ui.ts'

/** `/agents/:agentId/ag-ui`: the protocol AG-UI. */
export function agUiHandlers(deps: AgUiDeps): Handlers<'agUi'> {
  const agUi = createAgUi(deps)
  return {
    runAgUi: (call) => agUi.run(toChatCall(call), call.body),
    readAgUi(call) {
      const { threadId, runId } = call.query
      if (threadId !== undefined && runId === undefined) return agUi.thread(toChatCall(call), threadId)
      if (threadId === undefined && runId !== undefined) return agUi.connect(toChatCall(call), runId)
      throw perdureError('validation-failed', {
        message: 'query: must have either threadId or runId',
        hint: 'name the thread to read with threadId, or the run to follow with runId',
      })
    },
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
