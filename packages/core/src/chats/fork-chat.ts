import { type ListedChat, type NewChat, perdureError, type SessionRecord } from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import { type CommitOnceDeps, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { EXTERNAL_CHAT_ID, findChatSession } from '../sessions/chat-session-id.ts'
import { insertSession } from '../sessions/session-insertion.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { toChatResource } from './chat-resource.ts'
import { type AppendedMessage, type CopyMessagesDeps, copyMessages, holdFiles, keepFiles } from './copy-messages.ts'
import { type CopyTurnsDeps, copyTurns } from './copy-turns.ts'
import { type ChatName, type FindChatDeps, findChat } from './find-chat.ts'

export interface ForkChatDeps extends CommitOnceDeps, CopyTurnsDeps, CopyMessagesDeps, Omit<FindChatDeps, 'sessions'> {
  readonly sessions: CopyMessagesDeps['sessions'] & FindChatDeps['sessions']
  readonly targets: RunTargets
  readonly basePath: string
}

export interface ChatFork {
  /** The id of the new chat; by default, the id of its session. */
  readonly chatId?: string | undefined
  /** The turn of this message is the last one that is copied. */
  readonly messageId?: string | undefined
}

/**
 * Copies a chat of the caller: its turns that have ended, with what they show, their messages, and a hold on the files that
 * they show. The model sees the copy as its history. The copies of the runs have no recorded calls, and no usage.
 *
 * @throws PerdureError `session-not-found`, also for a chat of another owner; `session-exists` for a chat id that is taken;
 *   `validation-failed` if there is nothing to copy
 */
export type ForkChat = (request: {
  readonly name: Omit<ChatName, 'subject'>
  readonly body: ChatFork
  readonly principal: Principal
  readonly key?: KeyedRequest | undefined
}) => Promise<Reply>

export function createForkChat(deps: ForkChatDeps): ForkChat {
  return async ({ name, body, principal: { subject }, key }) => {
    const once = await commitOnce(deps, key, async () => {
      const source = await findChat(deps, { ...name, subject })
      if (source.owner !== subject) throw notOwned()
      return planFork(deps, source, { ...body, ...(await newIds(deps, subject, body)) })
    })
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

const notOwned = () =>
  perdureError('session-not-found', {
    message: 'the caller has no such chat',
    hint: 'only its owner can fork a chat: the files of the copy belong to the owner',
  })

interface NewIds {
  readonly chatId: string
  readonly sessionId: string
}

async function newIds(deps: ForkChatDeps, owner: string, { chatId }: ChatFork): Promise<NewIds> {
  if (chatId === undefined) {
    const sessionId = deps.ids.newId('session')
    return { chatId: sessionId, sessionId }
  }
  const { id: sessionId, session } = await findChatSession(deps, owner, chatId)
  if (session === undefined) return { chatId, sessionId }
  throw perdureError('session-exists', { hint: 'choose a chatId that no chat of the caller has, or omit it' })
}

async function planFork(
  deps: ForkChatDeps,
  source: ListedChat,
  { chatId, sessionId, messageId }: NewIds & Pick<ChatFork, 'messageId'>,
): Promise<Decision> {
  const { agentId, owner, firstText, title } = source
  const copies = await copyTurns(deps, { agentId, sessionId: source.sessionId, messageId }, { sessionId, owner })
  const between = { from: source.sessionId, to: sessionId, owner }
  const messages = await copyMessages(deps, copies, between)
  const now = deps.clock.now()
  const chat: NewChat = {
    ...{ sessionId, chatId, agentId, owner, firstText, title: source.sessionTitle ?? title, createdAt: now },
  }
  const session: SessionRecord = {
    ...{ id: sessionId, owner, agentId, metadata: { [EXTERNAL_CHAT_ID]: chatId }, createdAt: now, updatedAt: now },
  }
  return {
    writes: [
      ...insertSession(session),
      { type: 'chat.insert', chat },
      ...copies.map(({ run }) => insertRun(deps.targets, run)),
      ...messages,
      ...(await holdFiles(deps, copies, between)),
      ...keepFiles(copies, owner),
      { type: 'event.append', events: copies.flatMap(({ events }) => events) },
      { type: 'chat.change', sessionId, change: { read: 'all' } },
      // What the source has told the memory of its agent is not told again.
      { type: 'consolidation.extracted', sessionId, throughSeq: messages.length },
      { type: 'session.touch', id: sessionId, at: now },
    ],
    reply: {
      ...{ status: 201, body: toChatResource(asListed(chat, messages), { waitingFor: [] }) },
      location: `${deps.basePath}/agents/${agentId}/chats/${encodeURIComponent(chatId)}`,
    },
    remember: true,
    contentOf: sessionId,
  }
}

function asListed(chat: NewChat, messages: readonly AppendedMessage[]): ListedChat {
  const last = messages.at(-1)
  const positions = { lastSeq: messages.length, answerSeq: 0, readSeq: messages.length, updatedAt: chat.createdAt }
  if (last?.brief === undefined) return { ...chat, ...positions }
  const { role, createdAt: at } = last.message
  return { ...chat, ...positions, lastMessage: { role, text: last.brief.text, at } }
}
