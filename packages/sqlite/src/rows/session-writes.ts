import type { NewMessage, SessionRecord } from '@perdure/ports'
import { compile, from, placesFor } from './query.ts'
import type { MessageTable, SessionTable } from './schema.ts'
import { findAnySession } from './session-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const sessionWrites: WriteAppliers<'session.insert' | 'session.update' | 'session.touch' | 'message.append'> = {
  'session.insert'({ db }, { type, session }) {
    const { changes } = db.run(insertSession, toRow(session))
    return changes === 1 ? 1 : { type, current: findAnySession(db, session.id) }
  },
  'session.update'({ db }, { type, id, from: before, change, at }) {
    const after = { ...before, ...change }
    const values = { id, updatedAt: at, wasTitle: before.title ?? null, wasMetadata: JSON.stringify(before.metadata) }
    const { changes } = db.run(updateSession, {
      ...values,
      title: after.title ?? null,
      metadata: JSON.stringify(after.metadata),
    })
    return changes === 1 ? 1 : { type, current: findAnySession(db, id) }
  },
  'session.touch': ({ db }, { id, at }) => db.run(touchSession, { id, updatedAt: at }).changes,
  'message.append'({ db }, { type, message }) {
    const session = db.get(takeSeq, { id: message.sessionId, updatedAt: message.createdAt })
    if (session === undefined) return { type }
    return db.run(insertMessage, toMessageRow(message, { sessionKey: session.key, seq: session.last_seq })).changes
  },
}

type NewSessionRow = Omit<SessionTable, 'key'>
type NewMessageRow = Omit<MessageTable, 'key'>

const COLUMNS = [
  'id',
  'owner',
  'title',
  'user_id',
  'agent_id',
  'last_seq',
  'created_at',
  'updated_at',
  'metadata',
] as const

const MESSAGE_COLUMNS = ['session_key', 'seq', 'id', 'role', 'run_id', 'created_at', 'content'] as const

const insertSession = compile<NewSessionRow, unknown>((place) =>
  from
    .insertInto('sessions')
    .values(placesFor(place, COLUMNS))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

interface SessionUpdate {
  readonly id: string
  readonly updatedAt: number
  readonly title: string | null
  readonly metadata: string
  readonly wasTitle: string | null
  readonly wasMetadata: string
}

const updateSession = compile<SessionUpdate, unknown>((place) =>
  from
    .updateTable('sessions')
    .set({ title: place('title'), metadata: place('metadata'), updated_at: place('updatedAt') })
    .where('id', '=', place('id'))
    .where('title', 'is', place('wasTitle'))
    .where('metadata', '=', place('wasMetadata')),
)

const touchSession = compile<{ id: string; updatedAt: number }, unknown>((place) =>
  from
    .updateTable('sessions')
    .set({ updated_at: place('updatedAt') })
    .where('id', '=', place('id')),
)

const takeSeq = compile<{ id: string; updatedAt: number }, { key: number; last_seq: number }>((place) =>
  from
    .updateTable('sessions')
    .set((eb) => ({ last_seq: eb('last_seq', '+', 1), updated_at: place('updatedAt') }))
    .where('id', '=', place('id'))
    .returning(['key', 'last_seq']),
)

const insertMessage = compile<NewMessageRow, unknown>((place) =>
  from.insertInto('messages').values(placesFor(place, MESSAGE_COLUMNS)),
)

const toRow = (session: SessionRecord): NewSessionRow => ({
  id: session.id,
  owner: session.owner,
  title: session.title ?? null,
  user_id: session.userId ?? null,
  agent_id: session.agentId ?? null,
  last_seq: 0,
  created_at: session.createdAt,
  updated_at: session.updatedAt,
  metadata: JSON.stringify(session.metadata),
})

const toMessageRow = (message: NewMessage, place: { sessionKey: number; seq: number }): NewMessageRow => ({
  session_key: place.sessionKey,
  seq: place.seq,
  id: message.id,
  role: message.role,
  run_id: message.runId ?? null,
  created_at: message.createdAt,
  content: message.content,
})
