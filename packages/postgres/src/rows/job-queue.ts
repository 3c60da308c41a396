import type { EpochMs, JobCounts, JobPhase, JobRecord, Page, PageQuery } from '@perdure/ports'
import {
  isBeyond,
  type JobRow,
  type PageValues,
  pageValues,
  pageVariant,
  type Query,
  toJob,
  toPage,
} from '@perdure/sql'
import { type Expression, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { bounded } from '../query/bounded.ts'
import { compile, from } from '../query/compile.ts'

export async function findJob(db: Connection, id: string): Promise<JobRecord | undefined> {
  const row = await db.get(selectJob, { id })
  return row === undefined ? undefined : toJob(row)
}

export async function findLiveJob(db: Connection, key: string): Promise<JobRecord | undefined> {
  const row = await db.get(selectAlive, { key })
  return row === undefined ? undefined : toJob(row)
}

export const dueJobs = async (
  db: Connection,
  { phases, now, limit }: { phases: readonly JobPhase[]; now: EpochMs; limit: number },
): Promise<readonly JobRecord[]> => (await db.all(DUE_JOBS, { phases, now, limit })).map(toJob)

export const nextJobDueAt = async (db: Connection, phases: readonly JobPhase[]): Promise<EpochMs | undefined> =>
  (await db.get(NEXT_JOB, { phases }))?.due_at as EpochMs | undefined

export async function listDeadLetters(db: Connection, page: PageQuery): Promise<Page<JobRecord>> {
  const query = db.variant(`dead letters ${pageVariant(page)}`, () => deadLettersQuery(page))
  return toPage(await db.all(query, pageValues(page)), page, { toRecord: toJob, rankOf: (row) => row.created_at })
}

export async function countJobs(db: Connection): Promise<JobCounts> {
  const rows = await db.all(COUNT_JOBS, undefined)
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

export const DUE_JOBS = compile<{ phases: readonly string[]; now: number; limit: number }, JobRow>((param) =>
  from
    .selectFrom('jobs')
    .selectAll()
    .where('failed_at', 'is', null)
    .where('due_at', '<=', param('now'))
    .where(sql<boolean>`phase = any(${param('phases')})`)
    .orderBy('due_at')
    .orderBy('id')
    .limit(param('limit')),
)

export const NEXT_JOB = compile<{ phases: readonly string[] }, { due_at: number }>((param) =>
  from
    .selectFrom('jobs')
    .select('due_at')
    .where('failed_at', 'is', null)
    .where(sql<boolean>`phase = any(${param('phases')})`)
    .orderBy('due_at')
    .limit(sql.lit(1)),
)

export const deadLettersQuery = (page: PageQuery): Query<PageValues, JobRow> =>
  compile((param) =>
    bounded(
      from
        .selectFrom('jobs')
        .selectAll()
        .where('failed_at', 'is not', null)
        .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
        .orderBy('created_at', page.order)
        .orderBy('id', page.order)
        .limit(param('limit')) as unknown as Expression<JobRow>,
      ['error'],
    ),
  )

const COUNT_JOBS = compile<undefined, { phase: string; count: number }>(() => ({
  compile: () =>
    sql<{ phase: string; count: number }>`
      select case when failed_at is null then phase else 'dead' end as phase, count(*) as count from jobs group by 1`.compile(
      from,
    ),
}))
