import {
  MESSAGE_COLUMNS,
  type MessageRow,
  paramsFor,
  SESSION_COLUMNS,
  type SessionRow,
  toMessageRow,
  toSessionRow,
} from '@perdure/sql'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { indexedValue } from './indexed-words.ts'
import { sessionFields } from './session-filter.ts'
import { findAnySession } from './session-store.ts'
import type { WriteAppliers } from './write-applier.ts'

export const sessionWrites: WriteAppliers<'session.insert' | 'session.update' | 'session.touch' | 'message.append'> = {
  async 'session.insert'({ db }, { type, session }) {
    const { changes } = await db.run(insertSession, toSessionRow(session))
    if (changes !== 1) return { type, current: await findAnySession(db, session.id) }
    await insertFields(db, session)
    return 1
  },
  async 'session.update'({ db }, { type, id, from: before, change, at }) {
    const after = { ...before, ...change }
    const values = { id, updatedAt: at, wasTitle: before.title ?? null, wasMetadata: JSON.stringify(before.metadata) }
    const { changes } = await db.run(updateSession, {
      ...values,
      title: after.title ?? null,
      metadata: JSON.stringify(after.metadata),
    })
    if (changes !== 1) return { type, current: await findAnySession(db, id) }
    if (change.metadata !== undefined) await replaceFields(db, { id, before: before.metadata, after: change.metadata })
    return 1
  },
  'session.touch': async ({ db }, { id, at }) => (await db.run(touchSession, { id, updatedAt: at })).changes,
  async 'message.append'({ db }, { type, message }) {
    const session = await db.get(nextSeq, { id: message.sessionId, updatedAt: message.createdAt })
    if (session === undefined) return { type }
    return (await db.run(insertMessage, toMessageRow(message, session.last_seq))).changes
  },
}

interface FieldedSession {
  readonly id: string
  readonly createdAt: number
  readonly metadata: Readonly<Record<string, string>>
}

async function insertFields(db: Connection, { id, createdAt, metadata }: FieldedSession): Promise<void> {
  for (const [field, value] of sessionFields(metadata))
    await db.run(insertField, { id, createdAt, field, value: indexedValue(value) })
}

interface FieldChange {
  readonly id: string
  readonly before: Readonly<Record<string, string>>
  readonly after: Readonly<Record<string, string>>
}

async function replaceFields(db: Connection, { id, before, after }: FieldChange): Promise<void> {
  const session = await db.get(selectCreation, { id })
  if (session === undefined) return
  if (Object.keys(before).length > 0) await db.run(deleteFields, { id })
  await insertFields(db, { id, createdAt: session.created_at, metadata: after })
}

const selectCreation = compile<{ id: string }, { created_at: number }>((param) =>
  from.selectFrom('sessions').select('created_at').where('id', '=', param('id')),
)

const deleteFields = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('session_fields').where('session_id', '=', param('id')),
)

const insertField = compile<{ id: string; createdAt: number; field: string; value: string }, unknown>((param) =>
  from.insertInto('session_fields').values({
    ...{ field: param('field'), value: param('value') },
    ...{ session_at: param('createdAt'), session_id: param('id') },
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
    .where('title', 'is not distinct from', param('wasTitle'))
    .where('metadata', '=', param('wasMetadata')),
)

const touchSession = compile<{ id: string; updatedAt: number }, unknown>((param) =>
  from
    .updateTable('sessions')
    .set({ updated_at: param('updatedAt') })
    .where('id', '=', param('id')),
)

const nextSeq = compile<{ id: string; updatedAt: number }, { last_seq: number }>((param) =>
  from
    .updateTable('sessions')
    .set((eb) => ({ last_seq: eb('last_seq', '+', 1), updated_at: param('updatedAt') }))
    .where('id', '=', param('id'))
    .returning('last_seq'),
)

const insertMessage = compile<MessageRow, unknown>((param) =>
  from.insertInto('messages').values(paramsFor(param, ['session_id', ...MESSAGE_COLUMNS])),
)
