import type { ChatMessage } from '@perdure/core'
import { fromJsonText, type ListedRun } from '@perdure/ports'
import { messagesIn } from './chat-input.ts'
import { type ChatRuns, type ChatSessionDeps, EARLIER_MESSAGES } from './chat-session.ts'

type Identified = Pick<ChatMessage, 'id' | 'role'>

/** The messages of the user before the last message, by which a later request may name the turn. */
export const earlierMessages = <Message extends { readonly id?: string | undefined; readonly role: string }>(
  messages: readonly Message[],
): readonly Message[] => messages.slice(0, -1).filter(({ id = '', role }) => id !== '' && role === 'user')

/** The metadata by which a turn with this input is found by its earlier messages. */
export const rememberedEarlier = (input: unknown): Readonly<Record<string, string>> =>
  earlierMessages<Identified>(messagesIn(input)).length > 0 ? { [EARLIER_MESSAGES]: 'true' } : {}

export type EarlierRun = ListedRun<'input'>

/** An input can be long. */
const PAGE = 10
/** How many turns with earlier messages are searched. */
const MAX_PAGES = 20

/** The newest runs that have one of the messages as an earlier one, by the ids of the messages. */
export async function runsWithEarlier(
  { runs }: Pick<ChatSessionDeps, 'runs'>,
  { agentId: targetId, sessionId, visibility }: ChatRuns,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, EarlierRun>> {
  const wanted = new Set(messageIds)
  const found = new Map<string, EarlierRun>()
  const metadata = { [EARLIER_MESSAGES]: 'true' }
  const filter = { kind: 'agent', targetId, sessionId, isRoot: true, metadata } as const
  let cursor: string | undefined
  for (let pages = 0; pages < MAX_PAGES && found.size < wanted.size; pages++) {
    const page = await runs.list(filter, { limit: PAGE, order: 'desc', cursor, content: ['input'] }, visibility)
    for (const run of page.items) {
      for (const { id = '' } of earlierMessages(messagesIn(fromJsonText(run.input)))) {
        if (wanted.has(id) && !found.has(id)) found.set(id, run)
      }
    }
    cursor = page.nextCursor ?? undefined
    if (cursor === undefined) break
  }
  return found
}
