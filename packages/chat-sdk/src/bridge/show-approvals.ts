import type { PerdureClient } from '@perdure/client'
import type { Chat, Message } from 'chat'
import { closedCard, openCard } from './approval-card.ts'
import type { ChatUser } from './chat-event.ts'
import { subjectPrefixOf } from './chat-names.ts'
import type { Posts } from './posts.ts'

interface ShowApprovalsDeps {
  readonly chat: Chat
  readonly client: PerdureClient
  readonly posts: Posts
  readonly user: ChatUser
  readonly threadId: string
}

/**
 * Posts a card for each open approval of the run, and takes the buttons off the cards of those that were decided.
 *
 * @param beforeOpen called before the cards of open approvals are posted
 */
export async function showApprovals(
  { chat, client, posts, user, threadId }: ShowApprovalsDeps,
  runId: string,
  beforeOpen: () => Promise<void>,
): Promise<void> {
  for await (const approval of client.approvals.list({ runId, order: 'asc' })) {
    const { id, status, by } = approval
    if (status === 'pending') await beforeOpen()
    const content =
      status === 'pending' ? openCard(approval) : closedCard(approval, mentionOf(chat, { user, threadId, by }))
    await posts.show({ name: `${runId}:${id}`, content, mark: id, isMarked: hasButtonFor })
  }
}

interface Decided {
  readonly user: ChatUser
  readonly threadId: string
  readonly by: string | undefined
}

/** The mention of the person of this platform that decided; another subject is shown as it is. */
function mentionOf(chat: Chat, { user, threadId, by }: Decided): string | undefined {
  if (by === undefined) return undefined
  const prefix = subjectPrefixOf(user.adapter)
  return by.startsWith(prefix) ? chat.thread(threadId).mentionUser(by.slice(prefix.length)) : by
}

/** The buttons carry the id of the approval. */
const hasButtonFor = ({ raw }: Message, approvalId: string): boolean => JSON.stringify(raw ?? null).includes(approvalId)
