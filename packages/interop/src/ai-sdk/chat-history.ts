import { fromJsonText, type ListedRun } from '@perdure/ports'
import { messagesIn } from '../chat/chat-input.ts'
import { MESSAGE_REF } from '../chat/chat-session.ts'
import { eventsOf, type RunLogDeps } from '../chat/run-log.ts'
import { resultText, type ShownRuns } from '../chat/shown-runs.ts'
import { isFields } from '../fold/log-event.ts'
import { answerParts } from './answer-message.ts'
import { createAiSdkProjector } from './projector.ts'
import { toUiMessage, type UiMessage } from './ui-message.ts'

export type ChatHistoryDeps = RunLogDeps

/** The messages of these runs, oldest first. */
export async function chatHistory(deps: ChatHistoryDeps, { newest, older }: ShownRuns): Promise<readonly UiMessage[]> {
  const outlined = new Set(older)
  const shown = withoutReplaced([...newest, ...older]).toReversed()
  const answered = await Promise.all(
    shown.map(async (run) => [
      ...questionsOf(run),
      ...(outlined.has(run) ? [outlineOf(run)] : await answersOf(deps, run)),
    ]),
  )
  return answered.flat().filter(({ parts }) => parts.length > 0)
}

function outlineOf(run: ListedRun): UiMessage {
  const text = resultText(run)
  return { id: `msg_${run.id}`, role: 'assistant', parts: text === '' ? [] : [{ type: 'text', text }] }
}

/** Another answer to the same message replaces the earlier one. */
function withoutReplaced(runs: readonly ListedRun[]): readonly ListedRun[] {
  const refs = new Set<string>()
  return runs.filter(({ metadata }) => {
    const ref = metadata[MESSAGE_REF]
    if (ref === undefined) return true
    const isNewest = !refs.has(ref)
    refs.add(ref)
    return isNewest
  })
}

/** The messages that started the run, from its input. */
function questionsOf({ id, input, metadata }: ListedRun): readonly UiMessage[] {
  const value: unknown = fromJsonText(input)
  const messages = uiMessagesIn(value, `${id}.user`)
  if (messages.length > 0 || value === null) return messages
  const texts = isFields(value) ? Object.values(value).filter((member) => typeof member === 'string') : []
  const text = typeof value === 'string' ? value : texts.length === 1 ? String(texts[0]) : JSON.stringify(value)
  return [{ id: metadata[MESSAGE_REF] ?? `${id}.user`, role: 'user', parts: [{ type: 'text', text }] }]
}

const uiMessagesIn = (input: unknown, id: string): readonly UiMessage[] =>
  messagesIn(input).map((message, index) => toUiMessage(message, `${id}.${index}`))

/** The answers of the run, and between them what the user has answered to its questions. */
async function answersOf(deps: ChatHistoryDeps, run: ListedRun): Promise<readonly UiMessage[]> {
  const { id: runId, targetId: agentId, sessionId } = run
  const projector = createAiSdkProjector({ runId, agentId, sessionId }, 7)
  for await (const event of eventsOf(deps, run)) projector.next(event)
  return projector
    .messages()
    .flatMap(({ id, metadata, parts, answer }) => [
      { id, role: 'assistant', metadata, parts: answerParts(parts) } as const,
      ...uiMessagesIn(answer, id),
    ])
}
