import { isFields, type LogEvent } from '@perdure/core'
import { fromJsonText, type ListedRun } from '@perdure/ports'
import { type HistoryDeps, readHistory } from '../chat/chat-history.ts'
import { messagesIn } from '../chat/chat-input.ts'
import { type ChatRuns, MESSAGE_REF } from '../chat/chat-session.ts'
import { answerParts } from './answer-message.ts'
import { createAiSdkProjector } from './projector.ts'
import { toUiMessage, type UiMessage } from './ui-message.ts'

/** The messages of a chat, oldest first. If there are more, the metadata of the first one names the route that has them. */
export async function chatHistory(deps: HistoryDeps, chat: ChatRuns): Promise<readonly UiMessage[]> {
  const { messages, rest } = await readHistory<UiMessage>(deps, chat, {
    select: (runs) => runs,
    questions: questionsOf,
    outline: ({ id }, text) => [
      { id: `msg_${id}`, role: 'assistant', parts: text === '' ? [] : [{ type: 'text', text }] },
    ],
    answers: createAnswers,
  })
  const shown = messages.filter(({ parts }) => parts.length > 0)
  const [first, ...others] = shown
  if (rest === undefined || first === undefined) return shown
  const metadata = { ...(isFields(first.metadata) ? first.metadata : {}), perdureTruncated: { rest } }
  return [{ ...first, metadata }, ...others]
}

/** The messages that started the run, from its input. */
export const questionsOf = ({ id, input, metadata }: ListedRun): readonly UiMessage[] =>
  questionsIn(fromJsonText(input), { id, metadata })

/** What the user has sent with this input. */
export function questionsIn(
  value: unknown,
  { id, metadata }: Pick<ListedRun, 'id' | 'metadata'>,
): readonly UiMessage[] {
  const messages = uiMessagesIn(value, `${id}.user`)
  if (messages.length > 0 || value === null) return messages
  const texts = isFields(value) ? Object.values(value).filter((member) => typeof member === 'string') : []
  const text = typeof value === 'string' ? value : texts.length === 1 ? String(texts[0]) : JSON.stringify(value)
  return [{ id: metadata[MESSAGE_REF] ?? `${id}.user`, role: 'user', parts: [{ type: 'text', text }] }]
}

const uiMessagesIn = (input: unknown, id: string): readonly UiMessage[] =>
  messagesIn(input).map((message, index) => toUiMessage(message, `${id}.${index}`))

/** The answers of the run, and between them what the user has answered to its questions. */
function createAnswers({ id: runId, targetId: agentId, sessionId }: ListedRun) {
  const projector = createAiSdkProjector({ runId, agentId, sessionId }, 7)
  return {
    next(event: LogEvent) {
      projector.next(event)
    },
    messages: () => [
      ...projector.first().flatMap(({ id, content }) => questionsIn(content, { id, metadata: {} })),
      ...projector
        .messages()
        .flatMap(({ id, parts, answer }) => [
          { id, role: 'assistant', parts: answerParts(parts) } as const,
          ...uiMessagesIn(answer, id),
        ]),
    ],
  }
}
