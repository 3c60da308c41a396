import { type SqlBool, sql } from 'kysely'
import { releaseFiles } from '../files/file-writes.ts'
import { redactAnswers } from '../keys/idempotency-writes.ts'
import { recordTrimmedThrough } from '../meta.ts'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { deleteBy } from '../query/table-queries.ts'
import { LAST_EVENT_OF_RUN } from '../runs/retention-writes.ts'
import { deleteRuns, type RunId } from '../runs/thread-writes.ts'
import type { WriteAppliers } from '../transaction.ts'
import { findAnySession } from './session-store.ts'

export const sessionDeletion: WriteAppliers<'session.delete'> = {
  *'session.delete'({ db }, { type, id, answer, idleSince }) {
    const session = yield* db.get(SESSION_QUERIES.one, { id })
    if (session === undefined) return { type }
    const isActiveAgain = idleSince !== undefined && session.updated_at > idleSince
    if (isActiveAgain || (yield* db.get(SESSION_QUERIES.active, { id })) !== undefined)
      return { type, current: yield* findAnySession(db, id) }

    const runs = yield* db.all(SESSION_QUERIES.runs, { id })
    if (idleSince !== undefined) yield* recordTrimmedEvents(db, id, runs)
    yield* redactAnswers(db, id, answer)
    yield* deleteRuns(db, runs, answer)
    yield* releaseFiles(db, id)
    for (const deletion of SESSION_DELETIONS) yield* db.run(deletion, { id })
    return 1
  },
}

/** Lets a client whose cursor precedes the deleted events detect the gap. */
function* recordTrimmedEvents(db: Db, id: string, runs: readonly RunId[]): Program<void> {
  let last = (yield* db.get(SESSION_QUERIES.lastEvent, { id }))?.position ?? 0
  for (const run of runs) last = Math.max(last, (yield* db.get(LAST_EVENT_OF_RUN, run))?.position ?? 0)
  if (last > 0) yield* recordTrimmedThrough(db, last)
}

export const SESSION_QUERIES = {
  one: compile<{ id: string }, { updated_at: number }>((param, { locksRows }) =>
    from
      .selectFrom('sessions')
      .select('updated_at')
      .where('id', '=', param('id'))
      .$if(locksRows, (query) => query.forUpdate()),
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
  runs: compile<{ id: string }, RunId>((param) =>
    from.selectFrom('runs').select('id').where('session_id', '=', param('id')),
  ),
}

/**
 * Deletes the rows of a session from every table, except the rows of its runs; the session itself is deleted last.
 * Facts are kept, but lose their reference to the session.
 */
export const SESSION_DELETIONS: readonly Query<{ readonly id: string }, unknown>[] = [
  deleteBy('session_id', 'events'),
  compile((param, { session }) => from.deleteFrom('messages').where(session.column, '=', session.of(param('id')))),
  compile((param) =>
    from.updateTable('facts').set({ source_session_id: null }).where('source_session_id', '=', param('id')),
  ),
  deleteBy('session_id', 'jobs'),
  deleteBy('session_id', 'extractions'),
  deleteBy('session_id', 'chats'),
  deleteBy('session_id', 'changed_sessions'),
  compile((param, { session }) =>
    from.deleteFrom('session_fields').where(session.column, '=', session.of(param('id'))),
  ),
  deleteBy('id', 'sessions'),
]
