import type { Reply } from '@perdure/core'
import { EVERY_ROW, type ListedRun, perdureError, type SessionRecord } from '@perdure/ports'
import { chatSessionId, EXTERNAL_ID } from '../chat/chat-session.ts'
import { readLog } from '../chat/run-log.ts'
import { answerItems, inputItems } from './input-items.ts'
import { type ListQuery, toList } from './lists.ts'
import type { OpenaiCall, OpenaiDeps } from './openai-call.ts'
import type { OutputItem } from './output-items.ts'
import { unsupported } from './refusals.ts'
import { createResponseProjector } from './response-projector.ts'
import { ownMetadata, viewOf } from './response-reader.ts'

export interface ConversationBody {
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
  readonly items?: readonly unknown[] | null | undefined
}

/** Sessions as conversations. */
export interface Conversations {
  create(call: OpenaiCall, body: ConversationBody): Promise<Reply>
  get(call: OpenaiCall, id: string): Promise<object>
  update(call: OpenaiCall, id: string, body: ConversationBody): Promise<Reply>
  remove(call: OpenaiCall, id: string): Promise<Reply>
  items(call: OpenaiCall, id: string, query: ListQuery): Promise<object>
}

export function createConversations(deps: OpenaiDeps): Conversations {
  const { sessions, runs, createSession, updateSession, deleteSession, historyRuns } = deps

  /** A session by its own id, or the session of the caller that the id of a conversation names. */
  const find = async ({ principal, visibility }: OpenaiCall, id: string): Promise<SessionRecord> => {
    const named = await sessions.find(id, visibility)
    const found = named ?? (await sessions.find(await chatSessionId(deps, principal, id), visibility))
    if (found === undefined) throw perdureError('session-not-found')
    return found
  }

  /** The newest runs of the conversation, oldest first, without the children of runs. */
  const runsOf = async ({ id: sessionId }: SessionRecord): Promise<readonly ListedRun[]> => {
    const { items } = await runs.list({ sessionId }, { limit: historyRuns, order: 'desc' }, EVERY_ROW)
    return items.filter(({ parentRunId }) => parentRunId === undefined).toReversed()
  }

  /** The input and the output of every response of the run. */
  const itemsOf = async (run: ListedRun): Promise<readonly OutputItem[]> => {
    const events = await readLog(deps, run)
    const answers = answerItems(run.id, events)
    const items = [...inputItems(run)]
    for (let segment = 1; ; segment++) {
      const projector = createResponseProjector(viewOf({ run, segment } as Parameters<typeof viewOf>[0]))
      for (const event of events) projector.next(event)
      projector.rest()
      if (projector.response() === undefined) return items
      items.push(...(answers.get(segment) ?? []), ...projector.items())
    }
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
      const { [EXTERNAL_ID]: externalId } = session.metadata
      const kept: Record<string, string> = externalId === undefined ? {} : { [EXTERNAL_ID]: externalId }
      const change = { metadata: { ...metadata, ...kept } }
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
      const told = await runsOf(await find(call, id))
      const items = await Promise.all(told.map(itemsOf))
      return toList(items.flat(), query)
    },
  }
}

const toConversation = ({ id, createdAt, metadata }: SessionRecord, name = id): object => ({
  ...{ id: name, object: 'conversation', created_at: Math.floor(createdAt / 1_000) },
  metadata: ownMetadata(metadata),
})
