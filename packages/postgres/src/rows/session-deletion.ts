import type { Query } from '@perdure/sql'
import { type SqlBool, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { redactAnswers } from './idempotency-writes.ts'
import { recordTrimmedThrough } from './meta.ts'
import { LAST_EVENT_OF_RUN } from './retention-writes.ts'
import { findAnySession } from './session-store.ts'
import { deleteRuns, type RunKeys } from './thread-writes.ts'
import type { WriteAppliers } from './write-applier.ts'

export const sessionDeletion: WriteAppliers<'session.delete'> = {
  async 'session.delete'(tx, { type, id, answer, idleSince }) {
    const { db } = tx
    const session = await db.get(SESSION_QUERIES.one, { id })
    if (session === undefined) return { type }
    const isActiveAgain = idleSince !== undefined && session.updated_at > idleSince
    if (isActiveAgain || (await db.get(SESSION_QUERIES.active, { id })) !== undefined)
      return { type, current: await findAnySession(db, id) }

    const runs = await db.all(SESSION_QUERIES.runs, { id })
    if (idleSince !== undefined) await recordTrimmedEvents(db, id, runs)
    await redactAnswers(db, id, answer)
    await deleteRuns(tx, runs, answer)
    for (const deletion of SESSION_DELETIONS) await db.run(deletion, { id })
    return 1
  },
}

/** Lets a client whose cursor precedes the deleted events detect the gap. */
async function recordTrimmedEvents(db: Connection, id: string, runs: readonly RunKeys[]): Promise<void> {
  const ofSession = await db.get(SESSION_QUERIES.lastEvent, { id })
  const ofRuns = await Promise.all(runs.map((run) => db.get(LAST_EVENT_OF_RUN, run)))
  const positions = [ofSession, ...ofRuns].map((row) => row?.position ?? 0)
  if (Math.max(...positions) > 0) await recordTrimmedThrough(db, Math.max(...positions))
}

interface SessionKeys {
  readonly id: string
}

export const SESSION_QUERIES = {
  one: compile<{ id: string }, { updated_at: number }>((param) =>
    from.selectFrom('sessions').select('updated_at').forUpdate().where('id', '=', param('id')),
  ),
  lastEvent: compile<{ id: string }, { position: number | null }>((param) =>
    from
      .selectFrom('events')
      .select((eb) => eb.fn.max('position').as('position'))
      .where('session_id', '=', param('id')),
  ),
  active: compile<{ id: string }, { id: string }>((param) =>
    from
      .selectFrom('runs')
      .select('id')
      .where('session_id', '=', param('id'))
      .where(sql<SqlBool>`(status = 'queued' or status = 'running' or status = 'suspended')`)
      .limit(1),
  ),
  runs: compile<{ id: string }, RunKeys>((param) =>
    from.selectFrom('runs').select('id').where('session_id', '=', param('id')),
  ),
}

/**
 * Deletes the rows of a session from every table, except the rows of its runs; the session itself is deleted last.
 * Facts are kept, but lose their reference to the session.
 */
export const SESSION_DELETIONS: readonly Query<SessionKeys, unknown>[] = [
  compile((param) => from.deleteFrom('events').where('session_id', '=', param('id'))),
  compile((param) => from.deleteFrom('messages').where('session_id', '=', param('id'))),
  compile((param) =>
    from.updateTable('facts').set({ source_session_id: null }).where('source_session_id', '=', param('id')),
  ),
  compile((param) => from.deleteFrom('jobs').where('session_id', '=', param('id'))),
  compile((param) => from.deleteFrom('extractions').where('session_id', '=', param('id'))),
  compile((param) => from.deleteFrom('changed_sessions').where('session_id', '=', param('id'))),
  compile((param) => from.deleteFrom('session_fields').where('session_id', '=', param('id'))),
  compile((param) => from.deleteFrom('sessions').where('id', '=', param('id'))),
]
