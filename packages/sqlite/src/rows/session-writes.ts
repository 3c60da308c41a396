import { compile, from, paramsFor } from '../query/compile.ts'
import { MESSAGE_COLUMNS, type NewMessageRow, toMessageRow } from './message-row.ts'
import { type NewSessionRow, SESSION_COLUMNS, toSessionRow } from './session-row.ts'
import { findAnySession } from './session-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const sessionWrites: WriteAppliers<'session.insert' | 'session.update' | 'session.touch' | 'message.append'> = {
  'session.insert'({ db }, { type, session }) {
    const { changes } = db.run(insertSession, toSessionRow(session))
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
    const session = db.get(nextSeq, { id: message.sessionId, updatedAt: message.createdAt })
    if (session === undefined) return { type }
    return db.run(insertMessage, toMessageRow(message, { sessionKey: session.key, seq: session.last_seq })).changes
  },
}

const insertSession = compile<NewSessionRow, unknown>((param) =>
  from
    .insertInto('sessions')
    .values(paramsFor(param, SESSION_COLUMNS))
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

const updateSession = compile<SessionUpdate, unknown>((param) =>
  from
    .updateTable('sessions')
    .set({ title: param('title'), metadata: param('metadata'), updated_at: param('updatedAt') })
    .where('id', '=', param('id'))
    .where('title', 'is', param('wasTitle'))
    .where('metadata', '=', param('wasMetadata')),
)

const touchSession = compile<{ id: string; updatedAt: number }, unknown>((param) =>
  from
    .updateTable('sessions')
    .set({ updated_at: param('updatedAt') })
    .where('id', '=', param('id')),
)

const nextSeq = compile<{ id: string; updatedAt: number }, { key: number; last_seq: number }>((param) =>
  from
    .updateTable('sessions')
    .set((eb) => ({ last_seq: eb('last_seq', '+', 1), updated_at: param('updatedAt') }))
    .where('id', '=', param('id'))
    .returning(['key', 'last_seq']),
)

const insertMessage = compile<NewMessageRow, unknown>((param) =>
  from.insertInto('messages').values(paramsFor(param, MESSAGE_COLUMNS)),
)
