import { type Conflict, perdureError } from '@perdure/ports'

/** @throws PerdureError `validation-failed` if the session is the chat of another agent */
export function refuseOtherAgent(conflict: Conflict | undefined): void {
  if (conflict?.type !== 'chat.insert' || conflict.current === undefined) return
  throw chatOfOther({ agentId: conflict.current.agentId, member: 'sessionId' })
}

/** The error for a chat id that a chat with another agent has. @param member the member of the request that has the id */
export const chatOfOther = ({ agentId, member }: { readonly agentId: string; readonly member: string }) =>
  perdureError('validation-failed', {
    message: `${member}: the chat belongs to the agent ${agentId}`,
    hint: 'a chat id belongs to one agent: choose another id for the chat with this agent',
  })
