import { sql } from 'kysely'
import { noteMessage } from '../chats/chat-writes.ts'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { insertInto } from '../query/table-queries.ts'
import type { WriteAppliers } from '../transaction.ts'
import { MESSAGES, type MessageRow, toMessageRow } from './message-row.ts'
import { sessionFields } from './session-filter.ts'
import {
  CHANGING_SESSIONS,
  type ChangingSessionColumns,
  SESSION_COLUMNS,
  type SessionRow,
  toSessionRow,
} from './session-row.ts'
import { findAnySession } from './session-store.ts'

export const sessionWrites: WriteAppliers<
  'session.insert' | 'session.update' | 'session.touch' | 'message.append' | 'message.replace'
> = {
  *'session.insert'({ db }, { type, session }) {
    const changes = yield* db.run(insertSession, toSessionRow(session))
    if (changes !== 1) return { type, current: yield* findAnySession(db, session.id) }
    yield* insertFields(db, session)
    return 1
  },
  *'session.update'({ db }, { type, id, from: before, change, at }) {
    const after = CHANGING_SESSIONS.toRow({ ...before, ...change })
    const earlier = asEarlier(CHANGING_SESSIONS.toRow(before))
    const changes = yield* db.run(updateSession, { id, updatedAt: at, ...after, ...earlier })
    if (changes !== 1) return { type, current: yield* findAnySession(db, id) }
    if (change.metadata !== undefined) yield* replaceFields(db, { id, before: before.metadata, after: change.metadata })
    return 1
  },
  *'session.touch'({ db }, { id, at }) {
    return yield* db.run(touchSession, { id, updatedAt: at })
  },
  *'message.append'({ db }, { type, message, brief }) {
    const session = yield* db.get(nextSeq, { id: message.sessionId, updatedAt: message.createdAt })
    if (session === undefined) return { type }
    yield* noteMessage(db, { message, brief }, session.last_seq)
    return yield* db.run(insertMessage, toMessageRow(message, session.last_seq))
  },
  *'message.replace'({ db }, { sessionId, runId, content }) {
    const message = yield* db.get(QUESTION_OF_RUN, { sessionId, runId })
    return message === undefined ? 0 : yield* db.run(replaceMessage, { sessionId, seq: message.seq, content })
  },
}

interface FieldedSession {
  readonly id: string
  readonly createdAt: number
  readonly metadata: Readonly<Record<string, string>>
}

function* insertFields(db: Db, { id, createdAt, metadata }: FieldedSession): Program<void> {
  for (const [field, value] of sessionFields(metadata)) {
    yield* db.run(insertField, { id, createdAt, field, value: db.dialect.indexed(value) })
  }
}

interface FieldChange {
  readonly id: string
  readonly before: Readonly<Record<string, string>>
  readonly after: Readonly<Record<string, string>>
}

function* replaceFields(db: Db, { id, before, after }: FieldChange): Program<void> {
  const session = yield* db.get(selectCreation, { id })
  if (session === undefined) return
  if (Object.keys(before).length > 0) yield* db.run(deleteFields, { id })
  yield* insertFields(db, { id, createdAt: session.created_at, metadata: after })
}

const selectCreation = compile<{ id: string }, { created_at: number }>((param) =>
  from.selectFrom('sessions').select('created_at').where('id', '=', param('id')),
)

const deleteFields = compile<{ id: string }, unknown>((param, { session }) =>
  from.deleteFrom('session_fields').where(session.column, '=', session.of(param('id'))),
)

const insertField = compile<{ id: string; createdAt: number; field: string; value: string }, unknown>(
  (param, { session }) => sql`insert into session_fields (field, value, session_at, ${sql.ref(session.column)})
    values (${param('field')}, ${param('value')}, ${param('createdAt')}, ${session.of(param('id'))})`,
)

const insertSession = insertInto<SessionRow>('sessions', SESSION_COLUMNS, 'id')

type EarlierColumns = {
  readonly [Column in keyof ChangingSessionColumns as `earlier_${Column}`]: ChangingSessionColumns[Column]
}

const asEarlier = (columns: ChangingSessionColumns): EarlierColumns =>
  Object.fromEntries(
    CHANGING_SESSIONS.columns.map((column) => [`earlier_${column}`, columns[column]]),
  ) as unknown as EarlierColumns

type SessionUpdate = ChangingSessionColumns & EarlierColumns & { readonly id: string; readonly updatedAt: number }

const updateSession = compile<SessionUpdate, unknown>((param) =>
  from
    .updateTable('sessions')
    .set({ ...paramsFor(param, CHANGING_SESSIONS.columns), updated_at: param('updatedAt') })
    .where('id', '=', param('id'))
    .where((eb) =>
      eb.and(CHANGING_SESSIONS.columns.map((name) => eb(name, 'is not distinct from', param(`earlier_${name}`)))),
    ),
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

const insertMessage = compile<MessageRow, unknown>((param, { session }) =>
  from.insertInto('messages').values({
    ...paramsFor(param, MESSAGES.columns),
    [session.column]: session.of(param('session_id')),
  } as never),
)

/** Walks back from the newest message, and reads no content. */
export const QUESTION_OF_RUN = compile<{ sessionId: string; runId: string }, { readonly seq: number }>(
  (param, { session }) =>
    from
      .selectFrom('messages')
      .select('seq')
      .where(session.column, '=', session.of(param('sessionId')))
      .where('run_id', '=', param('runId'))
      .where('role', '=', sql.lit('user'))
      .orderBy('seq', 'desc')
      .limit(1),
)

const replaceMessage = compile<{ sessionId: string; seq: number; content: string }, unknown>((param, { session }) =>
  from
    .updateTable('messages')
    .set({ content: param('content') })
    .where(session.column, '=', session.of(param('sessionId')))
    .where('seq', '=', param('seq')),
)
