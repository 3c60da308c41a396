import { type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { forgetAnswers } from './idempotency-writes.ts'
import { trimThrough } from './meta.ts'
import { compile, from, type Query } from './query.ts'
import { LAST_EVENT_OF_RUN } from './retention-writes.ts'
import { findAnySession } from './session-store.ts'
import { deleteRuns, type RunNames } from './thread-writes.ts'
import type { WriteAppliers } from './write-applier.ts'

export const sessionDeletion: WriteAppliers<'session.delete'> = {
  'session.delete'(tx, { type, id, answer, idleSince }) {
    const { db } = tx
    const session = db.get(SESSION_QUERIES.key, { id })
    if (session === undefined) return { type }
    const isBack = idleSince !== undefined && session.updated_at > idleSince
    if (isBack || db.get(SESSION_QUERIES.active, { id }) !== undefined) return { type, current: findAnySession(db, id) }

    const runs = db.all(SESSION_QUERIES.runs, { id })
    if (idleSince !== undefined) tellOfEvents(db, id, runs)
    forgetAnswers(db, id, answer)
    deleteRuns(tx, runs, answer)
    for (const deletion of SESSION_DELETIONS) db.run(deletion, { id, key: session.key })
    return 1
  },
}

/** A cursor before the events that go now hears of a gap. */
function tellOfEvents(db: Connection, id: string, runs: readonly RunNames[]): void {
  const positions = runs.map((run) => db.get(LAST_EVENT_OF_RUN, run)?.position)
  for (const position of [...positions, db.get(SESSION_QUERIES.lastEvent, { id })?.position]) {
    if (typeof position === 'number') trimThrough(db, position)
  }
}

interface SessionNames {
  readonly key: number
  readonly id: string
}

export const SESSION_QUERIES = {
  key: compile<{ id: string }, { key: number; updated_at: number }>((place) =>
    from.selectFrom('sessions').select(['key', 'updated_at']).where('id', '=', place('id')),
  ),
  lastEvent: compile<{ id: string }, { position: number | null }>((place) =>
    from
      .selectFrom('events')
      .select((eb) => eb.fn.max('position').as('position'))
      .where('session_id', '=', place('id')),
  ),
  active: compile<{ id: string }, { id: string }>((place) =>
    from
      .selectFrom('runs')
      .select('id')
      .where('session_id', '=', place('id'))
      .where(sql<SqlBool>`(status = 'queued' or status = 'running' or status = 'suspended')`)
      .limit(1),
  ),
  runs: compile<{ id: string }, RunNames>((place) =>
    from.selectFrom('runs').select(['key', 'id']).where('session_id', '=', place('id')),
  ),
}

/** Every table with rows of a session, besides those of its runs; the session itself goes last. Facts outlive it, and forget it. */
export const SESSION_DELETIONS: readonly Query<SessionNames, unknown>[] = [
  compile((place) => from.deleteFrom('events').where('session_id', '=', place('id'))),
  compile((place) => from.deleteFrom('messages').where('session_key', '=', place('key'))),
  compile((place) =>
    from.updateTable('facts').set({ source_session_id: null }).where('source_session_id', '=', place('id')),
  ),
  compile((place) => from.deleteFrom('jobs').where('session_id', '=', place('id'))),
  compile((place) => from.deleteFrom('extractions').where('session_id', '=', place('id'))),
  compile((place) => from.deleteFrom('changed_sessions').where('session_id', '=', place('id'))),
  compile((place) => from.deleteFrom('sessions').where('key', '=', place('key'))),
]
