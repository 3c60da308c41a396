import type { ListedRun } from '@perdure/ports'
import { type ChatRuns, type ChatSessionDeps, type MESSAGE_ID, type MESSAGE_REF, messageRef } from './chat-session.ts'
import { earlierMessages, runsWithEarlier } from './earlier-messages.ts'

export interface SentMessages<Message> {
  /** Those after the last answer. */
  readonly messages: readonly Message[]
  /** Where the runs have the id of the message that started them. */
  readonly member: typeof MESSAGE_ID | typeof MESSAGE_REF
  /** The turn that the new one replaces. */
  readonly replacedId: string | undefined
  /** Whether an earlier request has taken the message, for one that no run names. */
  readonly isTaken: (message: Message) => Promise<boolean>
}

/** How many of the newest runs of the chat are searched for the messages. */
const MAX_RUNS = 200

type Sent = Pick<ListedRun, 'id' | 'metadata' | 'withdrawnBy'>

/**
 * The messages that start a turn. A page sends all messages since the last answer, also those that it has sent before: they
 * wait, another turn has taken them, or they were withdrawn. Only those of the turn that the new one replaces stay.
 */
export async function unsentMessages<Message extends { readonly id?: string | undefined; readonly role: string }>(
  { runs, digest }: ChatSessionDeps,
  chat: ChatRuns,
  { messages, member, replacedId, isTaken }: SentMessages<Message>,
): Promise<readonly Message[]> {
  if (messages.length < 2) return messages
  const { agentId: targetId, sessionId, visibility } = chat
  const filter = { kind: 'agent', targetId, sessionId, isRoot: true } as const
  const { items } = await runs.list(filter, { limit: MAX_RUNS, order: 'desc', content: [] }, visibility)
  const byId = new Map(items.map((run) => [run.id, run]))
  const byMessage = new Map(items.toReversed().map((run) => [run.metadata[member], run]))
  const byOwnId = (id: string) => byMessage.get(messageRef(digest, id)) ?? byId.get(runIdOfQuestion(id) ?? '')
  const others = earlierMessages(messages).flatMap(({ id = '' }) => (byOwnId(id) === undefined ? [id] : []))
  const byEarlier = others.length === 0 ? undefined : await runsWithEarlier({ runs }, chat, others)
  const unsent: Message[] = []
  for (const message of messages.slice(0, -1)) {
    const { id = '', role } = message
    const run: Sent | undefined = id === '' ? undefined : (byOwnId(id) ?? byEarlier?.get(id))
    const isSent = run === undefined ? id !== '' && role === 'user' && (await isTaken(message)) : true
    if (!isSent || (run !== undefined && shownIn(byId, run).id === replacedId)) unsent.push(message)
  }
  return [...unsent, ...messages.slice(-1)]
}

/** The run of a question to which the server gave its id. */
export const runIdOfQuestion = (messageId: string): string | undefined => /^([^.]+)\.user/.exec(messageId)?.[1]

/** The turn that has taken the message of the run, or that replaces it. */
function shownIn(byId: ReadonlyMap<string, Sent>, run: Sent): Sent {
  const seen = new Set<Sent>()
  let turn = run
  while (turn.withdrawnBy !== undefined && !seen.has(turn)) {
    seen.add(turn)
    turn = byId.get(turn.withdrawnBy) ?? turn
  }
  return turn
}
