import {
  CHANGING_SESSION_FIELDS,
  type ChangingSession,
  type MessageRecord,
  type SessionFilter,
  type SessionRecord,
  type SessionStore,
} from '@perdure/ports'
import { changed } from './changed.ts'
import type { ChatTable } from './chat-table.ts'
import { takePage } from './ordered-page.ts'
import { outlined } from './outlined.ts'
import { createRecordTable } from './record-table.ts'
import { isVisible } from './row-visibility.ts'
import type { SessionBelongings } from './session-deletion.ts'
import { putEntry } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export interface SessionTable
  extends Table<SessionStore, 'session.insert' | 'session.update' | 'session.touch' | WritesOf<'message'>>,
    SessionBelongings {
  all(): readonly SessionRecord[]
  get(id: string): SessionRecord | undefined
}

/** @param isBusy whether the session has a queued or running run */
export function createSessionTable(
  isBusy: (sessionId: string) => boolean,
  chats: Pick<ChatTable, 'note'>,
): SessionTable {
  const sessions = createRecordTable<SessionRecord>()
  const transcripts = new Map<string, MessageRecord[]>()

  return {
    store: {
      async find(id, visibility) {
        const session = sessions.get(id)
        return session !== undefined && isVisible(session, visibility) ? session : undefined
      },
      list: async (filter, page, visibility) =>
        sessions.page(page, (session) => matchesFilter(session, filter) && isVisible(session, visibility)),
      async messages(sessionId, page) {
        const records = transcripts.get(sessionId) ?? []
        const every = { matches: () => true, show: (message: MessageRecord) => message }
        return takePage({ records, sortKeyOf: ({ seq, id }) => [seq, id] }, page, every)
      },
      async outlineMessages(sessionId, page) {
        const records = transcripts.get(sessionId) ?? []
        const find = (id: string) => transcripts.get(sessionId)?.find((message) => message.id === id)
        return takePage({ records, sortKeyOf: ({ seq, id }) => [seq, id] }, page, {
          matches: () => true,
          show: (message) => outlined(message, ['content'], () => find(message.id)),
        })
      },
      async idleSince({ until, limit, after }) {
        return sessions
          .all()
          .filter((session) => session.updatedAt <= until && isAfter(session, after) && !isBusy(session.id))
          .sort((one, other) => one.updatedAt - other.updatedAt || (one.id < other.id ? -1 : 1))
          .slice(0, limit)
      },
    },
    all: () => [...sessions.all()],
    appliers: {
      'session.insert'({ type, session }, { undo }) {
        const current = sessions.get(session.id)
        if (current !== undefined) return { type, current }
        sessions.put(session, undo)
        return 1
      },
      'session.update'({ type, id, from, change, at }, { undo }) {
        const current = sessions.get(id)
        if (current === undefined || !isSame(current, from)) return { type, current }
        sessions.put(changed({ ...current, updatedAt: at }, change), undo)
        return 1
      },
      'session.touch'({ id, at }, { undo }) {
        const current = sessions.get(id)
        if (current === undefined) return 0
        sessions.put(Object.freeze({ ...current, updatedAt: at }), undo)
        return 1
      },
      'message.append'({ type, message, brief }, { undo }) {
        const session = sessions.get(message.sessionId)
        if (session === undefined) return { type }
        const transcript = transcripts.get(session.id) ?? []
        transcripts.set(session.id, transcript)
        const record = Object.freeze({ ...message, seq: transcript.length + 1 })
        transcript.push(record)
        undo.push(() => transcript.pop())
        if (brief !== undefined) chats.note(record, brief, undo)
        sessions.put(Object.freeze({ ...session, updatedAt: message.createdAt }), undo)
        return 1
      },
      'message.replace'({ sessionId, runId, content }, { undo }) {
        const transcript = transcripts.get(sessionId) ?? []
        const index = transcript.findLastIndex((message) => message.runId === runId && message.role === 'user')
        const message = transcript[index]
        if (message === undefined) return 0
        transcript[index] = Object.freeze({ ...message, content })
        undo.push(() => {
          transcript[index] = message
        })
        return 1
      },
    },
    get: (id) => sessions.get(id),
    removeSession(id, undo) {
      sessions.delete(id, undo)
      putEntry(transcripts, [id, undefined], undo)
    },
  }
}

const matchesFilter = (session: SessionRecord, { agentId, userId, metadata = {} }: SessionFilter): boolean =>
  (agentId === undefined || session.agentId === agentId) &&
  (userId === undefined || session.userId === userId) &&
  Object.entries(metadata).every(
    ([key, value]) => Object.hasOwn(session.metadata, key) && session.metadata[key] === value,
  )

const isAfter = ({ updatedAt, id }: SessionRecord, after: Pick<SessionRecord, 'id' | 'updatedAt'> | undefined) =>
  after === undefined || updatedAt > after.updatedAt || (updatedAt === after.updatedAt && id > after.id)

const isSame = (session: SessionRecord, from: ChangingSession): boolean =>
  CHANGING_SESSION_FIELDS.every((field) => JSON.stringify(session[field]) === JSON.stringify(from[field]))
