import { fromJsonText, type RunRecord } from '@perdure/ports'
import { isFields } from '../fold/log-event.ts'
import { partsOfChat, partsOfInput } from './answer-parts.ts'
import type { SessionMessage } from './session-message.ts'

/** The context of a run has under this key what the run was asked, for the packages of the SDKs. */
export const OWN_QUESTION: unique symbol = Symbol.for('perdure.own-question') as never

/** The input of the run as a message, whether or not the run has a session. */
export function ownQuestion({
  id: runId,
  input,
  createdAt,
}: Pick<RunRecord, 'id' | 'input' | 'createdAt'>): SessionMessage {
  const content: unknown = fromJsonText(input)
  return {
    ...{ id: `${runId}.user`, role: 'user', content, parts: partsOfInput(content), runId },
    createdAt: new Date(createdAt).toISOString(),
  }
}

const questionOf = (context: object): SessionMessage | undefined =>
  (context as { readonly [OWN_QUESTION]?: SessionMessage })[OWN_QUESTION]

/**
 * The messages in the input of a run that has no session. A client without sessions, such as one for Chat Completions,
 * sends the earlier answers too; they count, but its instructions and tool results do not.
 */
export function conversationOf(context: object): readonly SessionMessage[] {
  const question = questionOf(context)
  if (question === undefined) return []
  const { content } = question
  const sent = isFields(content) && Array.isArray(content.messages) ? content.messages.filter(isFields) : []
  if (!sent.some(({ role }) => role === 'assistant')) return [question]
  return sent.flatMap((message, index): readonly SessionMessage[] => {
    const { role } = message
    if (role !== 'user' && role !== 'assistant') return []
    return [
      {
        ...question,
        id: `${question.id}.${index}`,
        role,
        content: { messages: [message] },
        parts: partsOfChat(message),
      },
    ]
  })
}
