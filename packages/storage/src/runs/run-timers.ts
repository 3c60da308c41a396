import { type EpochMs, RUN_CONTENT, type RunRecord, type StartRange, takeWithinPage } from '@perdure/ports'
import { ENDED_RUN_STATUSES } from '@perdure/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile } from '../query/compile.ts'
import type { Db, Dialect } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { rowBytes } from '../query/page.ts'
import { statusList } from '../query/run-status.ts'
import { type RunRow, toRun } from './run-row.ts'

export function* runsPastDeadline(db: Db, until: { now: EpochMs; limit: number }): Program<readonly RunRecord[]> {
  return takeWithinPage(yield* db.each(PAST_DEADLINE, until), until.limit, rowBytes).items.map(toRun)
}

export function* nextDeadlineAt(db: Db): Program<EpochMs | undefined> {
  return (yield* db.get(NEXT_DEADLINE, {}))?.deadline_at as EpochMs | undefined
}

export function* runsStarting(db: Db, range: StartRange & { readonly limit: number }): Program<readonly RunRecord[]> {
  return takeWithinPage(yield* db.each(STARTING, range), range.limit, rowBytes).items.map(toRun)
}

export function* nextStartAt(db: Db, { after }: { readonly after: EpochMs }): Program<EpochMs | undefined> {
  return (yield* db.get(NEXT_START, { after }))?.start_at as EpochMs | undefined
}

/** The exact `WHERE` text of the partial index on deadlines. */
const HAS_NOT_ENDED = sql<SqlBool>`status not in (${statusList(ENDED_RUN_STATUSES)})`

export const PAST_DEADLINE = compile<{ now: number; limit: number }, RunRow>((param, dialect) =>
  dialect.bounded(
    from
      .selectFrom('runs')
      .selectAll()
      .where(HAS_NOT_ENDED)
      .where('deadline_at', '<=', dialect.earlierClock(param('now')))
      .orderBy('deadline_at')
      .limit(param('limit'))
      .$castTo<RunRow>(),
    RUN_CONTENT,
  ),
)

export const NEXT_DEADLINE = compile<object, { deadline_at: number | null }>(() =>
  from
    .selectFrom('runs')
    .select('deadline_at')
    .where(HAS_NOT_ENDED)
    .where('deadline_at', 'is not', null)
    .orderBy('deadline_at')
    .limit((eb) => eb.lit(1)),
)

/** The exact `WHERE` text of the partial index on start times. */
const waitsForStart = ({ hidden }: Dialect) => sql<SqlBool>`start_at IS NOT NULL AND ${hidden('status')} = 'queued'`

export const STARTING = compile<StartRange & { limit: number }, RunRow>((param, dialect) =>
  dialect.bounded(
    from
      .selectFrom('runs')
      .selectAll()
      .where(waitsForStart(dialect))
      .where('start_at', '>', param('after'))
      .where('start_at', '<=', dialect.earlierClock(param('through')))
      .orderBy('start_at')
      .orderBy('id')
      .limit(param('limit'))
      .$castTo<RunRow>(),
    RUN_CONTENT,
  ),
)

export const NEXT_START = compile<{ after: number }, { start_at: number | null }>((param, dialect) =>
  from
    .selectFrom('runs')
    .select('start_at')
    .where(waitsForStart(dialect))
    .where('start_at', '>', param('after'))
    .orderBy('start_at')
    .limit((eb) => eb.lit(1)),
)
