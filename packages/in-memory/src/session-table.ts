import type { MessageRecord, SessionRecord, SessionStore } from '@berth/ports'
import { takePage } from './ordered-page.ts'
import { createRecordTable } from './record-table.ts'
import { isVisible } from './row-visibility.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface SessionTable {
  readonly store: SessionStore
  all(): readonly SessionRecord[]
  readonly appliers: Pick<WriteAppliers, 'session.insert' | 'message.append'>
}

export function createSessionTable(): SessionTable {
  const sessions = createRecordTable<SessionRecord>()
  const transcripts = new Map<string, MessageRecord[]>()

  return {
    store: {
      async find(id, visibility) {
        const session = sessions.get(id)
        return session !== undefined && isVisible(session, visibility) ? session : undefined
      },
      list: async (page, visibility) => sessions.page(page, (session) => isVisible(session, visibility)),
      async messages(sessionId, page) {
        const records = transcripts.get(sessionId) ?? []
        return takePage({ records, placeOf: ({ seq, id }) => [seq, id] }, page, () => true)
      },
    },
    all: () => sessions.page({ limit: Number.MAX_SAFE_INTEGER, order: 'asc' }, () => true).items,
    appliers: {
      'session.insert'({ type, session }, { undo }) {
        const current = sessions.get(session.id)
        if (current !== undefined) return { type, current }
        sessions.put(session, undo)
        return 1
      },
      'message.append'({ type, message }, { undo }) {
        const session = sessions.get(message.sessionId)
        if (session === undefined) return { type }
        const transcript = transcripts.get(session.id) ?? []
        transcripts.set(session.id, transcript)
        transcript.push(Object.freeze({ ...message, seq: transcript.length + 1 }))
        undo.push(() => transcript.pop())
        sessions.put(Object.freeze({ ...session, updatedAt: message.createdAt }), undo)
        return 1
      },
    },
  }
}
