import { type SqlBool, sql } from 'kysely'
import { FORGET_ANSWERS, toResponseRow } from './idempotency-writes.ts'
import { compile, from, type Query } from './query.ts'
import { findAnySession } from './session-store.ts'
import { RUN_DELETIONS, type RunNames } from './thread-writes.ts'
import type { WriteAppliers } from './write-applier.ts'

export const sessionDeletion: WriteAppliers<'session.delete'> = {
  'session.delete'({ db }, { type, id, answer }) {
    const session = db.get(SESSION_QUERIES.key, { id })
    if (session === undefined) return { type }
    if (db.get(SESSION_QUERIES.active, { id }) !== undefined) return { type, current: findAnySession(db, id) }

    const response = toResponseRow(answer)
    const forget = (contentOf: string) => db.run(FORGET_ANSWERS, { ...response, contentOf })
    forget(id)
    for (const run of db.all(SESSION_QUERIES.runs, { id })) {
      forget(run.id)
      for (const approval of db.all(SESSION_QUERIES.approvals, run)) forget(approval.id)
      for (const deletion of RUN_DELETIONS) db.run(deletion, run)
    }
    for (const deletion of SESSION_DELETIONS) db.run(deletion, { id, key: session.key })
    return 1
  },
}

interface SessionNames {
  readonly key: number
  readonly id: string
}

export const SESSION_QUERIES = {
  key: compile<{ id: string }, { key: number }>((place) =>
    from.selectFrom('sessions').select('key').where('id', '=', place('id')),
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
  approvals: compile<RunNames, { id: string }>((place) =>
    from.selectFrom('approvals').select('id').where('run_id', '=', place('id')),
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
