import { type ChatRuns, MESSAGE_REF, messageRef, newestRuns, turnWith } from '../chat/chat-session.ts'
import { runIdOfQuestion } from '../chat/unsent-messages.ts'
import { runIdIn } from './projector.ts'
import { runStartedBy, type TurnWithMessageDeps, turnWithMessage } from './turn-with-message.ts'
import type { UiMessage } from './ui-message.ts'

interface Sent {
  readonly messages: readonly UiMessage[]
  readonly trigger: 'submit-message' | 'regenerate-message'
  readonly messageId?: string | undefined
}

/** Whether the page edits a message or wants another answer to it. */
export const isReplacing = ({ trigger, messageId }: Sent): boolean =>
  trigger === 'regenerate-message' || messageId !== undefined

const MAX_TURNS = 200

export interface ReplacedTurn {
  readonly id: string
  /** The messages of the turn that stay, if the page may not have sent them as messages of their own. */
  readonly earlier?: readonly UiMessage[]
}

/**
 * The first turn that the page replaces: the one that began with its last message, that gave the answer to replace, or
 * that has taken the message while it worked. If the server knows none of them, the turn after the last answer that the
 * page keeps.
 */
export async function replacedTurn(
  deps: TurnWithMessageDeps,
  chat: ChatRuns,
  sent: Sent,
): Promise<ReplacedTurn | undefined> {
  const last = sent.messages.at(-1)
  if (!isReplacing(sent) || last === undefined) return undefined
  const asked = await turnWith(deps, chat, { [MESSAGE_REF]: messageRef(deps.digest, last.id) })
  if (asked !== undefined) return { id: asked.id }
  const turns = await newestRuns(deps, chat, MAX_TURNS)
  const named = [runIdOf(last.id), runIdOf(sent.messageId ?? '')]
  const own = turns.find(({ id }) => named.includes(id))
  if (own !== undefined) return { id: own.id }
  const started = await runStartedBy(deps, chat, last.id)
  const holding = await turnWithMessage(deps, chat, { id: last.id, runId: started?.id ?? runIdOf(last.id) ?? last.id })
  if (holding !== undefined) return holding
  const kept = sent.messages.findLast(({ role }) => role === 'assistant')
  const index = turns.findIndex(({ id }) => id === runIdIn(kept?.id ?? ''))
  const next = index > 0 ? turns[index - 1] : undefined
  return next === undefined ? undefined : { id: next.id }
}

/** The run of an answer, or of a question to which the server gave its id. */
const runIdOf = (messageId: string): string | undefined => runIdIn(messageId) ?? runIdOfQuestion(messageId)
