import { type EpochMs, RUN_CONTENT, type RunTimers, type StartRange, takeWithinPage } from '@perdure/ports'
import { ENDED_RUN_STATUSES } from '@perdure/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Dialect } from '../query/dialect.ts'
import { rowBytes } from '../query/page.ts'
import { statusList } from '../query/run-status.ts'
import { selectFirst, selectRows } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { type RunRow, toRun } from './run-row.ts'

export const runTimerReads: Reads<RunTimers> = {
  *pastDeadline(db, now, limit) {
    return takeWithinPage(yield* db.each(PAST_DEADLINE, { now, limit }), limit, rowBytes).items.map(toRun)
  },
  *nextDeadlineAt(db) {
    return (yield* db.get(NEXT_DEADLINE, {}))?.deadline_at as EpochMs | undefined
  },
  *starting(db, range, limit) {
    return takeWithinPage(yield* db.each(STARTING, { ...range, limit }), limit, rowBytes).items.map(toRun)
  },
  *nextStartAt(db, after) {
    return (yield* db.get(NEXT_START, { after }))?.start_at as EpochMs | undefined
  },
}

/** The exact `WHERE` text of the partial index on deadlines. */
const HAS_NOT_ENDED = sql<SqlBool>`status not in (${statusList(ENDED_RUN_STATUSES)})`

export const PAST_DEADLINE = selectRows<{ now: number; limit: number }, RunRow>('runs', {
  where: (param, { earlierClock }) => [HAS_NOT_ENDED, sql`deadline_at <= ${earlierClock(param('now'))}`],
  order: ['deadline_at'],
  texts: RUN_CONTENT,
})

export const NEXT_DEADLINE = selectFirst('deadline_at', 'runs', () => [HAS_NOT_ENDED])

/** The exact `WHERE` text of the partial index on start times. */
const waitsForStart = ({ hidden }: Dialect) => sql<SqlBool>`start_at IS NOT NULL AND ${hidden('status')} = 'queued'`

export const STARTING = selectRows<StartRange & { limit: number }, RunRow>('runs', {
  where: (param, dialect) => [
    waitsForStart(dialect),
    sql`start_at > ${param('after')}`,
    sql`start_at <= ${dialect.earlierClock(param('through'))}`,
  ],
  order: ['start_at', 'id'],
  texts: RUN_CONTENT,
})

export const NEXT_START = selectFirst<'start_at', { after: number }>('start_at', 'runs', (param, dialect) => [
  waitsForStart(dialect),
  sql`start_at > ${param('after')}`,
])
