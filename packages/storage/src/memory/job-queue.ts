import type { EpochMs, JobCounts, JobPhase, JobRecord, Page, PageQuery } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type JobRow, toJob } from './job-row.ts'

export function* findJob(db: Db, id: string): Program<JobRecord | undefined> {
  const row = yield* db.get(selectJob, { id })
  return row === undefined ? undefined : toJob(row)
}

export function* findLiveJob(db: Db, key: string): Program<JobRecord | undefined> {
  const row = yield* db.get(selectAlive, { key })
  return row === undefined ? undefined : toJob(row)
}

export function* dueJobs(
  db: Db,
  { phases, now, limit }: { phases: readonly JobPhase[]; now: EpochMs; limit: number },
): Program<readonly JobRecord[]> {
  return (yield* db.all(DUE_JOBS, { phases, now, limit })).map(toJob)
}

export function* nextJobDueAt(db: Db, phases: readonly JobPhase[]): Program<EpochMs | undefined> {
  return (yield* db.get(NEXT_JOB, { phases }))?.due_at as EpochMs | undefined
}

export function* listDeadLetters(db: Db, page: PageQuery): Program<Page<JobRecord>> {
  const query = db.variant(`dead letters ${pageVariant(page)}`, () => deadLettersQuery(page))
  return toPage(yield* db.each(query, pageValues(page)), page, { toRecord: toJob, rankOf: (row) => row.created_at })
}

export function* countJobs(db: Db): Program<JobCounts> {
  const rows = yield* db.all(COUNT_JOBS, undefined)
  const countOf = (phase: string) => rows.find((row) => row.phase === phase)?.count ?? 0
  return {
    extract: countOf('extract'),
    merge: countOf('merge'),
    decay: countOf('decay'),
    deadLetters: countOf('dead'),
  }
}

const selectJob = compile<{ id: string }, JobRow>((param) =>
  from.selectFrom('jobs').selectAll().where('id', '=', param('id')),
)

const selectAlive = compile<{ key: string }, JobRow>((param) =>
  from.selectFrom('jobs').selectAll().where('job_key', '=', param('key')).where('failed_at', 'is', null),
)

export const DUE_JOBS = compile<{ phases: readonly string[]; now: number; limit: number }, JobRow>((param, dialect) =>
  from
    .selectFrom('jobs')
    .selectAll()
    .where('failed_at', 'is', null)
    .where('due_at', '<=', param('now'))
    .where(dialect.isOneOf('phase', param('phases')))
    .orderBy('due_at')
    .orderBy('id')
    .limit(param('limit')),
)

export const NEXT_JOB = compile<{ phases: readonly string[] }, { due_at: number }>((param, dialect) =>
  from
    .selectFrom('jobs')
    .select('due_at')
    .where('failed_at', 'is', null)
    .where(dialect.isOneOf('phase', param('phases')))
    .orderBy('due_at')
    .limit(sql.lit(1)),
)

export const deadLettersQuery = (page: PageQuery): Query<PageValues, JobRow> =>
  compile((param, dialect) =>
    dialect.bounded(
      from
        .selectFrom('jobs')
        .selectAll()
        .where('failed_at', 'is not', null)
        .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
        .orderBy('created_at', page.order)
        .orderBy('id', page.order)
        .limit(param('limit'))
        .$castTo<JobRow>(),
      ['error'],
    ),
  )

const COUNT_JOBS = compile<undefined, { phase: string; count: number }>(
  () =>
    sql`select case when failed_at is null then phase else 'dead' end as phase, count(*) as count from jobs group by 1`,
)
