import { ACTIVE_RUN_STATUSES, ENDED_RUN_STATUSES } from '@perdure/protocol'
import { type SqlBool, sql } from 'kysely'
import { recordTrimmedThrough } from '../meta.ts'
import type { Program } from '../program.ts'
import { compile, type Param } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { statusList } from '../query/run-status.ts'
import type { WriteAppliers } from '../transaction.ts'
import { deleteRun, type RunId, redactRun } from './thread-writes.ts'

export const retentionWrites: WriteAppliers<'event.trim' | 'event.delete' | 'run.prune'> = {
  *'event.delete'({ db }, { positions }) {
    let count = 0
    for (const position of positions) count += yield* db.run(deleteEvent, { position })
    return count
  },
  *'event.trim'({ db }, { before, limit }) {
    const { position: end } = (yield* db.get(RETENTION_QUERIES.firstKept, { before })) ?? {
      position: Number.MAX_SAFE_INTEGER,
    }
    const old = yield* db.all(RETENTION_QUERIES.oldEvents, { end, limit })
    for (const { position } of old) yield* db.run(deleteEvent, { position })
    yield* recordTrimmed(db, old.at(-1)?.position)
    return old.length
  },
  *'run.prune'({ db }, { before, limit, of }) {
    const { oldRuns, oldRunsOfOwner } = RETENTION_QUERIES
    const runs =
      of === undefined
        ? yield* db.all(oldRuns, { before, limit })
        : yield* db.all(oldRunsOfOwner, { before, limit, owner: of.owner })
    for (const run of runs) {
      yield* recordTrimmed(db, (yield* db.get(LAST_EVENT_OF_RUN, run))?.position ?? undefined)
      if (of !== undefined) yield* redactRun(db, run, of.answer)
      yield* deleteRun(db, run)
    }
    return runs.length
  },
}

function* recordTrimmed(db: Db, position: number | undefined): Program<void> {
  if (position !== undefined) yield* recordTrimmedThrough(db, position)
}

const isActive = (alias: string) => sql<SqlBool>`${sql.ref(`${alias}.status`)} in (${statusList(ACTIVE_RUN_STATUSES)})`

interface OldRunsValues {
  readonly before: number
  readonly limit: number
}

const oldRuns = (param: Param<OldRunsValues>) =>
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
    .limit(param('limit'))

const RETENTION_QUERIES = {
  /** Finds the first event to keep. Retention scans only the events before it. */
  firstKept: compile<{ readonly before: number }, { readonly position: number }>((param) =>
    from.selectFrom('events').select('position').where('at', '>=', param('before')).orderBy('position').limit(1),
  ),
  oldEvents: compile<{ readonly end: number; readonly limit: number }, { readonly position: number }>(
    (param, { run }) =>
      from
        .selectFrom('events')
        .select('position')
        .where('position', '<', param('end'))
        .where('type', '<>', '')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('runs')
                .select('runs.id')
                .whereRef(`runs.${run.self}`, '=', `events.${run.column}`)
                .where(isActive('runs')),
            ),
          ),
        )
        .orderBy('position')
        .limit(param('limit')),
  ),
  oldRuns: compile<OldRunsValues, RunId>((param) => oldRuns(param)),
  oldRunsOfOwner: compile<OldRunsValues & { readonly owner: string }, RunId>((param) =>
    oldRuns(param).where('old.owner', '=', param('owner')),
  ),
}

export const LAST_EVENT_OF_RUN = compile<RunId, { readonly position: number | null }>((param, { run }) =>
  from
    .selectFrom('events')
    .select((eb) => eb.fn.max('position').as('position'))
    .where(run.column, '=', run.of(param('id'))),
)

const deleteEvent = compile<{ readonly position: number }, unknown>((param) =>
  from.deleteFrom('events').where('position', '=', param('position')),
)
