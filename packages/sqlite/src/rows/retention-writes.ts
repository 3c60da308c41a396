import { type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { trimThrough } from './meta.ts'
import { compile, from } from './query.ts'
import { deleteRun, type RunNames } from './thread-writes.ts'
import type { WriteAppliers } from './write-applier.ts'

export const retentionWrites: WriteAppliers<'event.trim' | 'run.prune'> = {
  'event.trim'({ db }, { before, limit }) {
    const { position: end } = db.get(RETENTION_QUERIES.firstKept, { before }) ?? { position: Number.MAX_SAFE_INTEGER }
    const old = db.all(RETENTION_QUERIES.oldEvents, { end, limit })
    for (const { position } of old) db.run(deleteEvent, { position })
    noteTrimmed(db, old.at(-1)?.position)
    return old.length
  },
  'run.prune'(tx, { before, limit }) {
    const { db } = tx
    const runs = db.all(RETENTION_QUERIES.oldRuns, { before, limit })
    for (const run of runs) {
      noteTrimmed(db, db.get(LAST_EVENT_OF_RUN, run)?.position ?? undefined)
      deleteRun(tx, run)
    }
    return runs.length
  },
}

const noteTrimmed = (db: Connection, position: number | undefined): void => {
  if (position !== undefined) trimThrough(db, position)
}

const isActive = (alias: string) => sql<SqlBool>`${sql.ref(`${alias}.status`)} in ('queued', 'running', 'suspended')`

const RETENTION_QUERIES = {
  /** Stops at the first event that is young enough. */
  firstKept: compile<{ readonly before: number }, { readonly position: number }>((place) =>
    from.selectFrom('events').select('position').where('at', '>=', place('before')).orderBy('position').limit(1),
  ),
  oldEvents: compile<{ readonly end: number; readonly limit: number }, { readonly position: number }>((place) =>
    from
      .selectFrom('events')
      .select('position')
      .where('position', '<', place('end'))
      .where('type', '<>', '')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('runs').select('runs.key').whereRef('runs.key', '=', 'events.run_key').where(isActive('runs')),
          ),
        ),
      )
      .orderBy('position')
      .limit(place('limit')),
  ),
  oldRuns: compile<{ readonly before: number; readonly limit: number }, RunNames>((place) =>
    from
      .selectFrom('runs as old')
      .select(['old.key', 'old.id'])
      .where('old.created_at', '<', place('before'))
      .where(sql<SqlBool>`old.completed_at < ${place('before')}`)
      .where(sql<SqlBool>`old.status in ('completed', 'failed', 'aborted')`)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('runs').select('key').whereRef('runs.id', '=', 'old.parent_run_id').where(isActive('runs')),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('runs').select('key').whereRef('runs.thread_id', '=', 'old.thread_id').where(isActive('runs')),
          ),
        ),
      )
      .orderBy('old.created_at')
      .orderBy('old.id')
      .limit(place('limit')),
  ),
}

export const LAST_EVENT_OF_RUN = compile<RunNames, { readonly position: number | null }>((place) =>
  from
    .selectFrom('events')
    .select((eb) => eb.fn.max('position').as('position'))
    .where('run_key', '=', place('key')),
)

const deleteEvent = compile<{ readonly position: number }, unknown>((place) =>
  from.deleteFrom('events').where('position', '=', place('position')),
)
