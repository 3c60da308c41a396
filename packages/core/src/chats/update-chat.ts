import { type ChatChange, EVERY_ROW, type ListedChat, type Write } from '@perdure/ports'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { findSession } from '../sessions/read-sessions.ts'
import { changeSession } from '../sessions/update-session.ts'
import { type ChatName, type FindChatDeps, findChat } from './find-chat.ts'
import { type DescribeChatDeps, toResource } from './read-chats.ts'

export type UpdateChatDeps = CommitOnceDeps & FindChatDeps & DescribeChatDeps

export interface ChatUpdate {
  readonly title?: string | undefined
  /** Whether every message, or not the newest answer, counts as read. */
  readonly read?: boolean | undefined
  /** Position of the last message that counts as read. */
  readonly readThrough?: number | undefined
}

/**
 * Names a chat, or moves the position up to which its owner has read it. The title is that of the session, so no other
 * title replaces it.
 *
 * @throws PerdureError `session-not-found`
 */
export type UpdateChat = (request: {
  readonly name: ChatName
  readonly change: ChatUpdate
  readonly key?: KeyedRequest | undefined
}) => Promise<Reply>

export function createUpdateChat(deps: UpdateChatDeps): UpdateChat {
  const renaming = async ({ sessionId }: ListedChat, title: string): Promise<readonly Write[]> => {
    const session = await findSession(deps.sessions, sessionId, EVERY_ROW)
    const { write, event } = changeSession(session, { title }, deps.clock.now())
    return [write, { type: 'event.append', events: [event] }]
  }

  return async ({ name, change: { title, read, readThrough }, key }) => {
    const once = await commitOnce(deps, key, async () => {
      const chat = await findChat(deps, name)
      const { sessionId } = chat
      const position = readThrough ?? (read === undefined ? undefined : read ? 'all' : 'not-answer')
      const marking: readonly Write[] =
        position === undefined ? [] : [{ type: 'chat.change', sessionId, change: { read: position } }]
      const changed = { ...chat, sessionTitle: title ?? chat.sessionTitle, readSeq: readSeqAfter(chat, position) }
      return {
        writes: [...(title === undefined ? [] : await renaming(chat, title)), ...marking],
        reply: { status: 200, body: await toResource(deps, changed) },
        remember: true,
        contentOf: sessionId,
      }
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

function readSeqAfter({ lastSeq, answerSeq, readSeq }: ListedChat, position: ChatChange['read']): number {
  if (position === undefined) return readSeq
  if (position === 'not-answer') return Math.min(readSeq, Math.max(0, answerSeq - 1))
  return position === 'all' ? lastSeq : Math.min(position, lastSeq)
}
