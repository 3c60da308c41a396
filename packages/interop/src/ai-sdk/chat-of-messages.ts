import type { RunStore, Visibility } from '@perdure/ports'
import { perdureError } from '@perdure/ports'
import { runIdIn } from './projector.ts'
import type { UiMessage } from './ui-message.ts'

interface Sent {
  readonly id?: string | undefined
  readonly messages: readonly UiMessage[]
}

/**
 * The chat that the messages belong to. `WorkflowChatTransport` does not send its id: then it is the chat of the newest
 * answer, and before the first answer one that the first message of the user names.
 */
export async function chatOfMessages(
  { runs }: { readonly runs: Pick<RunStore, 'find'> },
  { agentId, visibility }: { readonly agentId: string; readonly visibility: Visibility },
  { id, messages }: Sent,
): Promise<string> {
  if (id !== undefined) return id
  const answer = messages.findLast((message) => message.role === 'assistant' && runIdIn(message.id) !== undefined)
  const run = await runs.find(runIdIn(answer?.id ?? '') ?? '', visibility)
  if (run?.targetId === agentId && run.sessionId !== undefined) return run.sessionId
  const first = messages.find(({ role, id: messageId }) => role === 'user' && messageId !== '')
  if (first !== undefined) return `${DERIVED}${first.id}`.slice(0, MAX_CHAT_ID)
  throw perdureError('validation-failed', {
    message: 'body.id: is missing, and body.messages has no message of the user that names a chat',
    hint: 'send the id of the chat as id',
  })
}

const DERIVED = 'chat of '
const MAX_CHAT_ID = 512
