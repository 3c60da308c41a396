import {
  type ChatRuns,
  type ChatSessionDeps,
  MAX_METADATA,
  MESSAGE_REF,
  newestRuns,
  turnWith,
} from '../chat/chat-session.ts'
import { runIdIn } from './projector.ts'
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

/**
 * The first turn that the page replaces: the one that began with its last message, or that gave the answer to replace. If
 * the server knows neither, the turn after the last answer that the page keeps.
 */
export async function replacedTurn(deps: ChatSessionDeps, chat: ChatRuns, sent: Sent): Promise<string | undefined> {
  const last = sent.messages.at(-1)
  if (!isReplacing(sent) || last === undefined) return undefined
  const asked = await turnWith(deps, chat, { [MESSAGE_REF]: last.id.slice(0, MAX_METADATA) })
  if (asked !== undefined) return asked.id
  const turns = await newestRuns(deps, chat, MAX_TURNS)
  const named = [runIdOf(last.id), runIdOf(sent.messageId ?? '')]
  const own = turns.find(({ id }) => named.includes(id))
  if (own !== undefined) return own.id
  const kept = sent.messages.findLast(({ role }) => role === 'assistant')
  const index = turns.findIndex(({ id }) => id === runIdIn(kept?.id ?? ''))
  return index > 0 ? turns[index - 1]?.id : undefined
}

/** The run of an answer, or of a question to which the server gave its id. */
const runIdOf = (messageId: string): string | undefined => runIdIn(messageId) ?? /^([^.]+)\.user/.exec(messageId)?.[1]
