import type { agentOperations, Operation, runOperations } from '@perdure/protocol'
import type { Call, Handlers } from './handlers.ts'

type AgentHandlers = Handlers<typeof agentOperations>
declare const complete: AgentHandlers

// @ts-expect-error every operation of the group needs a handler
export const missing: AgentHandlers = { listAgents: complete.listAgents }

// @ts-expect-error no operation is named runAgents
export const misnamed: AgentHandlers = { ...complete, runAgents: complete.runAgent }

// @ts-expect-error an unimplemented operation has no handler
export type Refused = Handlers<{ readonly never: Operation & { readonly refused: true } }>['never']

declare const call: Call<typeof runOperations.abortRun>
export const runId: string = call.params.runId
export const reason: string | undefined = call.body.reason
// @ts-expect-error the path has no such parameter
export const agentId = call.params.agentId
