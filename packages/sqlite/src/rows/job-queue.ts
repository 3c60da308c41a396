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
import { sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'

export function findJob(db: Connection, id: string): JobRecord | undefined {
  const row = db.get(selectJob, { id })
  return row === undefined ? undefined : toJob(row)
}

export function findLiveJob(db: Connection, key: string): JobRecord | undefined {
  const row = db.get(selectAlive, { key })
  return row === undefined ? undefined : toJob(row)
}

export const dueJobs = (
  db: Connection,
  { phases, now, limit }: { phases: readonly JobPhase[]; now: EpochMs; limit: number },
): readonly JobRecord[] => db.all(DUE_JOBS, { phases: JSON.stringify(phases), now, limit }).map(toJob)

export const nextJobDueAt = (db: Connection, phases: readonly JobPhase[]): EpochMs | undefined =>
  db.get(NEXT_JOB, { phases: JSON.stringify(phases) })?.due_at as EpochMs | undefined

export function listDeadLetters(db: Connection, page: PageQuery): Page<JobRecord> {
  const query = db.variant(`dead letters ${pageVariant(page)}`, () => deadLettersQuery(page))
  return toPage(db.each(query, pageValues(page)), page, { toRecord: toJob, rankOf: (row) => row.created_at })
}

export function countJobs(db: Connection): JobCounts {
  const rows = db.all(COUNT_JOBS, undefined)
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

const ofPhases = sql`phase in (select value from json_each(`

export const DUE_JOBS = compile<{ phases: string; now: number; limit: number }, JobRow>((param) =>
  from
    .selectFrom('jobs')
    .selectAll()
    .where('failed_at', 'is', null)
    .where('due_at', '<=', param('now'))
    .where(sql<boolean>`${ofPhases}${param('phases')}))`)
    .orderBy('due_at')
    .orderBy('id')
    .limit(param('limit')),
)

export const NEXT_JOB = compile<{ phases: string }, { due_at: number }>((param) =>
  from
    .selectFrom('jobs')
    .select('due_at')
    .where('failed_at', 'is', null)
    .where(sql<boolean>`${ofPhases}${param('phases')}))`)
    .orderBy('due_at')
    .limit(sql.lit(1)),
)

export const deadLettersQuery = (page: PageQuery): Query<PageValues, JobRow> =>
  compile((param) =>
    from
      .selectFrom('jobs')
      .selectAll()
      .where('failed_at', 'is not', null)
      .$if(page.cursor !== undefined, (query) => query.where(isBeyond(param, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit')),
  )

const COUNT_JOBS = compile<undefined, { phase: string; count: number }>(() => ({
  compile: () =>
    sql<{ phase: string; count: number }>`
      select iif(failed_at is null, phase, 'dead') as phase, count(*) as count from jobs group by 1`.compile(from),
}))
