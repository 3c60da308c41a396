import type { Reply } from '@perdure/core'
import { EVERY_ROW, perdureError, type SessionRecord } from '@perdure/ports'
import { type BriefRun, chatSessionId } from '../chat/chat-session.ts'
import type { ProtocolCall } from '../handlers.ts'
import { readItemPage } from './conversation-items.ts'
import { type ListQuery, toPage } from './lists.ts'
import type { OpenaiDeps } from './openai-call.ts'
import { unsupported } from './refusals.ts'
import { ownMetadata } from './response-reader.ts'

export interface ConversationBody {
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
  readonly items?: readonly unknown[] | null | undefined
}

/** Sessions as conversations. */
export interface Conversations {
  create(call: ProtocolCall, body: ConversationBody): Promise<Reply>
  get(call: ProtocolCall, id: string): Promise<object>
  update(call: ProtocolCall, id: string, body: ConversationBody): Promise<Reply>
  remove(call: ProtocolCall, id: string): Promise<Reply>
  items(call: ProtocolCall, id: string, query: ListQuery): Promise<object>
}

const MAX_RUNS = 200

export function createConversations(deps: OpenaiDeps): Conversations {
  const { sessions, runs, createSession, updateSession, deleteSession, historyRuns } = deps

  /** A session by its own id, or the session of the caller that the id of a conversation names. */
  const find = async ({ principal, visibility }: ProtocolCall, id: string): Promise<SessionRecord> => {
    const named = await sessions.find(id, visibility)
    const found = named ?? (await sessions.find(await chatSessionId(deps, principal, id, 'conversationId'), visibility))
    if (found === undefined) throw perdureError('session-not-found')
    return found
  }

  /** The newest runs of the conversation, newest first, without the children of runs. */
  const runsOf = async ({ id: sessionId }: SessionRecord): Promise<readonly BriefRun[]> => {
    const page = { limit: Math.min(historyRuns, MAX_RUNS), order: 'desc', content: [] } as const
    return (await runs.list({ sessionId, isTurn: true }, page, EVERY_ROW)).items
  }

  return {
    async create({ principal, key }, { metadata, items }) {
      if ((items ?? []).length > 0) throw unsupported('items', 'a conversation begins with its first response')
      const replyOf = (session: SessionRecord) => ({ status: 200, body: toConversation(session) })
      return createSession({ body: { metadata: metadata ?? {} }, principal, key, replyOf })
    },
    get: async (call, id) => toConversation(await find(call, id), id),
    async update(call, id, { metadata }) {
      const { visibility, key } = call
      const session = await find(call, id)
      const change = { metadata: metadata ?? {} }
      const replyOf = (changed: SessionRecord) => ({ status: 200, body: toConversation(changed, id) })
      return updateSession({ sessionId: session.id, change, visibility, key, replyOf })
    },
    async remove(call, id) {
      const { principal, visibility, key } = call
      const { id: sessionId } = await find(call, id)
      const reply = { status: 200, body: { id, object: 'conversation.deleted', deleted: true } }
      return deleteSession({ sessionId, principal, visibility, key, reply })
    },
    async items(call, id, query) {
      const newest = await runsOf(await find(call, id))
      const ordered = query.order === 'asc' ? newest.toReversed() : newest
      return toPage(await readItemPage(deps, ordered, (runId) => runs.find(runId, EVERY_ROW), query))
    },
  }
}

const toConversation = ({ id, createdAt, metadata }: SessionRecord, name = id): object => ({
  ...{ id: name, object: 'conversation', created_at: Math.floor(createdAt / 1_000) },
  metadata: ownMetadata(metadata),
})
