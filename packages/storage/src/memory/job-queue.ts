import type { EpochMs, JobQueue, PageQuery } from '@perdure/ports'
import { type SqlBool, sql } from 'kysely'
import { compile, type Query } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { listQuery, selectById, selectFirst, selectRows } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { JOBS, type JobRow } from './job-row.ts'

export const jobReads: Reads<JobQueue> = {
  *find(db, id) {
    const row = yield* db.get(selectJob, { id })
    return row && JOBS.toRecord(row)
  },
  *findLive(db, key) {
    const row = yield* db.get(selectAlive, { key })
    return row && JOBS.toRecord(row)
  },
  *due(db, phases, now, limit) {
    return (yield* db.all(DUE_JOBS, { phases, now, limit })).map(JOBS.toRecord)
  },
  *nextDueAt(db, phases) {
    return (yield* db.get(NEXT_JOB, { phases }))?.due_at as EpochMs | undefined
  },
  *deadLetters(db, page) {
    const query = db.variant(`dead letters ${pageVariant(page)}`, () => deadLettersQuery(page))
    const rows = yield* db.each(query, pageValues(page))
    return toPage(rows, page, { toRecord: JOBS.toRecord, rankOf: (row) => row.created_at })
  },
  *counts(db) {
    const rows = yield* db.all(COUNT_JOBS, undefined)
    const countOf = (phase: string) => rows.find((row) => row.phase === phase)?.count ?? 0
    return {
      extract: countOf('extract'),
      merge: countOf('merge'),
      decay: countOf('decay'),
      deadLetters: countOf('dead'),
    }
  },
}

const selectJob = selectById<JobRow>('jobs')

const selectAlive = compile<{ key: string }, JobRow>((param) =>
  from.selectFrom('jobs').selectAll().where('job_key', '=', param('key')).where('failed_at', 'is', null),
)

const isLive = sql<SqlBool>`failed_at is null`

export const DUE_JOBS = selectRows<{ phases: readonly string[]; now: number; limit: number }, JobRow>('jobs', {
  where: (param, dialect) => [isLive, sql`due_at <= ${param('now')}`, dialect.isOneOf('phase', param('phases'))],
  order: ['due_at', 'id'],
})

export const NEXT_JOB = selectFirst<'due_at', { phases: readonly string[] }>('due_at', 'jobs', (param, dialect) => [
  isLive,
  dialect.isOneOf('phase', param('phases')),
])

export const deadLettersQuery = (page: PageQuery): Query<PageValues, JobRow> =>
  listQuery('jobs', { page, texts: ['error'], where: () => [sql`failed_at is not null`] })

const COUNT_JOBS = compile<undefined, { phase: string; count: number }>(
  () =>
    sql`select case when failed_at is null then phase else 'dead' end as phase, count(*) as count from jobs group by 1`,
)
