import { ACTIVE_RUN_STATUSES, ENDED_RUN_STATUSES } from '@perdure/protocol'
import { statusList } from '@perdure/sql'
import { type SqlBool, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { recordTrimmedThrough } from './meta.ts'
import { deleteRun, type RunKeys } from './thread-writes.ts'
import type { WriteAppliers } from './write-applier.ts'

export const retentionWrites: WriteAppliers<'event.trim' | 'run.prune'> = {
  async 'event.trim'({ db }, { before, limit }) {
    const { position: end } = (await db.get(RETENTION_QUERIES.firstKept, { before })) ?? {
      position: Number.MAX_SAFE_INTEGER,
    }
    const old = await db.all(RETENTION_QUERIES.oldEvents, { end, limit })
    for (const { position } of old) await db.run(deleteEvent, { position })
    await recordTrimmed(db, old.at(-1)?.position)
    return old.length
  },
  async 'run.prune'(tx, { before, limit }) {
    const { db } = tx
    const runs = await db.all(RETENTION_QUERIES.oldRuns, { before, limit })
    for (const run of runs) {
      await recordTrimmed(db, (await db.get(LAST_EVENT_OF_RUN, run))?.position ?? undefined)
      await deleteRun(tx, run)
    }
    return runs.length
  },
}

const recordTrimmed = async (db: Connection, position: number | undefined): Promise<void> => {
  if (position !== undefined) await recordTrimmedThrough(db, position)
}

const isActive = (alias: string) => sql<SqlBool>`${sql.ref(`${alias}.status`)} in (${statusList(ACTIVE_RUN_STATUSES)})`

const RETENTION_QUERIES = {
  /** Finds the first event to keep. Retention scans only the events before it. */
  firstKept: compile<{ readonly before: number }, { readonly position: number }>((param) =>
    from.selectFrom('events').select('position').where('at', '>=', param('before')).orderBy('position').limit(1),
  ),
  oldEvents: compile<{ readonly end: number; readonly limit: number }, { readonly position: number }>((param) =>
    from
      .selectFrom('events')
      .select('position')
      .where('position', '<', param('end'))
      .where('type', '<>', '')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('runs').select('runs.id').whereRef('runs.id', '=', 'events.run_id').where(isActive('runs')),
          ),
        ),
      )
      .orderBy('position')
      .limit(param('limit')),
  ),
  oldRuns: compile<{ readonly before: number; readonly limit: number }, RunKeys>((param) =>
    from
      .selectFrom('runs as old')
      .select('old.id')
      .where('old.created_at', '<', param('before'))
      .where(sql<SqlBool>`old.completed_at < ${param('before')}`)
      .where(sql<SqlBool>`old.status in (${statusList(ENDED_RUN_STATUSES)})`)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(selectFrom('runs').select('id').whereRef('runs.id', '=', 'old.parent_run_id').where(isActive('runs'))),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('runs').select('id').whereRef('runs.thread_id', '=', 'old.thread_id').where(isActive('runs')),
          ),
        ),
      )
      .orderBy('old.created_at')
      .orderBy('old.id')
      .limit(param('limit')),
  ),
}

export const LAST_EVENT_OF_RUN = compile<RunKeys, { readonly position: number | null }>((param) =>
  from
    .selectFrom('events')
    .select((eb) => eb.fn.max('position').as('position'))
    .where('run_id', '=', param('id')),
)

const deleteEvent = compile<{ readonly position: number }, unknown>((param) =>
  from.deleteFrom('events').where('position', '=', param('position')),
)
