import { dayOf, type EpochMs, reachedLimit, type SubjectUsage, startOfDay } from '@perdure/ports'
import { sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import type { WriteAppliers } from '../transaction.ts'

export interface DeletedUsageRow {
  readonly subject: string
  readonly day: number
  readonly runs: number
  readonly cost_usd: number
}

export function* subjectUsage(db: Db, subject: string, now: EpochMs): Program<SubjectUsage> {
  const active = yield* db.get(USAGE_QUERIES.active, { subject })
  const today = yield* db.get(USAGE_QUERIES.today, { subject, since: startOfDay(now) })
  const deleted = yield* db.get(USAGE_QUERIES.deleted, { subject, day: dayOf(now) })
  return {
    activeRuns: active?.runs ?? 0,
    runsToday: (today?.runs ?? 0) + (deleted?.runs ?? 0),
    costUsdToday: (today?.cost_usd ?? 0) + (deleted?.cost_usd ?? 0),
  }
}

export const usageWrites: WriteAppliers<'run.admit' | 'usage.prune'> = {
  *'run.admit'({ db }, { type, subject, now, limits }) {
    const lock = db.dialect.lockSubject
    if (lock !== undefined) yield* db.run(lock, { subject })
    const usage = yield* subjectUsage(db, subject, now)
    return reachedLimit(usage, limits) === undefined ? 0 : { type, current: usage }
  },
  *'usage.prune'({ db }, { now, limit }) {
    return yield* db.run(USAGE_QUERIES.prune, { now, limit })
  },
}

/** Keeps the usage of a run that is about to be deleted, so that deleting runs makes room for no further ones. */
export function* keepUsage(db: Db, id: string): Program<void> {
  yield* db.run(USAGE_QUERIES.keep, { id })
}

interface Count {
  readonly runs: number
}

const isRoot = sql`parent_run_id is null`
/** The copy of an ended run has a start, but never executed. */
const isNoCopy = sql`(execution > 0 or started_at is null)`

export const USAGE_QUERIES = {
  active: compile<{ subject: string }, Count>(
    (param) => sql`select cast(count(*) as integer) as runs from runs
      where owner = ${param('subject')} and ${isRoot} and (status = 'queued' or status = 'running')`,
  ),
  today: compile<{ subject: string; since: number }, Count & { readonly cost_usd: number }>(
    (param, { jsonNumber }) => sql`select cast(count(*) as integer) as runs,
        coalesce(sum(${jsonNumber('usage', 'costUsd')}), 0) as cost_usd
      from runs where owner = ${param('subject')} and created_at >= ${param('since')} and ${isRoot} and ${isNoCopy}`,
  ),
  deleted: compile<{ subject: string; day: number }, Omit<DeletedUsageRow, 'subject' | 'day'>>(
    (param) => sql`select cast(coalesce(sum(runs), 0) as integer) as runs, coalesce(sum(cost_usd), 0) as cost_usd
      from deleted_usage where subject = ${param('subject')} and day >= ${param('day')}`,
  ),
  /** The day is that on which the run was created: the clock may have been ahead then. */
  keep: compile<{ id: string }, unknown>(
    (param, { run, jsonNumber, dayOf: day }) => sql`insert into deleted_usage (subject, day, runs, cost_usd)
      select owner, ${day(sql.ref('created_at'))}, 1, coalesce(${jsonNumber('usage', 'costUsd')}, 0)
      from runs where ${sql.ref(run.self)} = ${run.of(param('id'))} and ${isRoot} and ${isNoCopy}
      on conflict (subject, day) do update set
        runs = deleted_usage.runs + excluded.runs, cost_usd = deleted_usage.cost_usd + excluded.cost_usd`,
  ),
  prune: compile<{ now: number; limit: number }, unknown>((param, dialect) => {
    const over = sql`day < ${dialect.dayOf(dialect.earlierClock(param('now')))} - 1 order by day limit ${param('limit')}`
    return dialect.locksRows
      ? sql`delete from deleted_usage
          where ctid = any(array(select ctid from deleted_usage where ${over} for update))`
      : sql`delete from deleted_usage where (subject, day) in (select subject, day from deleted_usage where ${over})`
  }),
}
