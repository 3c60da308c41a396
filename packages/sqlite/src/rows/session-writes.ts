import {
  MESSAGE_COLUMNS,
  type MessageRow,
  paramsFor,
  SESSION_COLUMNS,
  type SessionRow,
  toMessageRow,
  toSessionRow,
} from '@perdure/sql'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import { sessionFields } from './session-filter.ts'
import { findAnySession } from './session-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const sessionWrites: WriteAppliers<'session.insert' | 'session.update' | 'session.touch' | 'message.append'> = {
  'session.insert'({ db }, { type, session }) {
    const { changes, lastInsertRowid } = db.run(insertSession, toSessionRow(session))
    if (changes !== 1) return { type, current: findAnySession(db, session.id) }
    insertFields(db, { ...session, key: Number(lastInsertRowid) })
    return 1
  },
  'session.update'({ db }, { type, id, from: before, change, at }) {
    const after = { ...before, ...change }
    const values = { id, updatedAt: at, wasTitle: before.title ?? null, wasMetadata: JSON.stringify(before.metadata) }
    const { changes } = db.run(updateSession, {
      ...values,
      title: after.title ?? null,
      metadata: JSON.stringify(after.metadata),
    })
    if (changes !== 1) return { type, current: findAnySession(db, id) }
    if (change.metadata !== undefined) replaceFields(db, { id, before: before.metadata, after: change.metadata })
    return 1
  },
  'session.touch': ({ db }, { id, at }) => db.run(touchSession, { id, updatedAt: at }).changes,
  'message.append'({ db }, { type, message }) {
    const session = db.get(nextSeq, { id: message.sessionId, updatedAt: message.createdAt })
    if (session === undefined) return { type }
    return db.run(insertMessage, { ...toMessageRow(message, session.last_seq), session_key: session.key }).changes
  },
}

interface FieldedSession {
  readonly key: number
  readonly createdAt: number
  readonly metadata: Readonly<Record<string, string>>
}

function insertFields(db: Connection, { key, createdAt, metadata }: FieldedSession): void {
  for (const [field, value] of sessionFields(metadata)) db.run(insertField, { key, createdAt, field, value })
}

interface FieldChange {
  readonly id: string
  readonly before: Readonly<Record<string, string>>
  readonly after: Readonly<Record<string, string>>
}

function replaceFields(db: Connection, { id, before, after }: FieldChange): void {
  const session = db.get(selectCreation, { id })
  if (session === undefined) return
  const { key, created_at } = session
  if (Object.keys(before).length > 0) db.run(deleteFields, { key })
  insertFields(db, { key, createdAt: created_at, metadata: after })
}

const selectCreation = compile<{ id: string }, { key: number; created_at: number }>((param) =>
  from.selectFrom('sessions').select(['key', 'created_at']).where('id', '=', param('id')),
)

const deleteFields = compile<{ key: number }, unknown>((param) =>
  from.deleteFrom('session_fields').where('session_key', '=', param('key')),
)

const insertField = compile<{ key: number; createdAt: number; field: string; value: string }, unknown>((param) =>
  from.insertInto('session_fields').values({
    ...{ field: param('field'), value: param('value') },
    ...{ session_at: param('createdAt'), session_key: param('key') },
  }),
)

const insertSession = compile<SessionRow, unknown>((param) =>
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

const insertMessage = compile<MessageRow & { session_key: number }, unknown>((param) =>
  from.insertInto('messages').values(paramsFor(param, ['session_key', ...MESSAGE_COLUMNS])),
)
