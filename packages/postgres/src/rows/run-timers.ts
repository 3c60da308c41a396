import { type EpochMs, type RunRecord, type StartRange, takeWithinPage } from '@perdure/ports'
import { ENDED_RUN_STATUSES } from '@perdure/protocol'
import { type RunRow, rowBytes, statusList, toRun } from '@perdure/sql'
import { type Expression, type SqlBool, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { bounded } from '../query/bounded.ts'
import { compile, from } from '../query/compile.ts'
import { earlierClock } from '../query/earlier-clock.ts'

export const runsPastDeadline = async (
  db: Connection,
  until: { now: EpochMs; limit: number },
): Promise<readonly RunRecord[]> =>
  takeWithinPage(await db.all(PAST_DEADLINE, until), until.limit, rowBytes).items.map(toRun)

export const nextDeadlineAt = async (db: Connection): Promise<EpochMs | undefined> =>
  (await db.get(NEXT_DEADLINE, {}))?.deadline_at as EpochMs | undefined

export const runsStarting = async (
  db: Connection,
  range: StartRange & { readonly limit: number },
): Promise<readonly RunRecord[]> =>
  takeWithinPage(await db.all(STARTING, range), range.limit, rowBytes).items.map(toRun)

export const nextStartAt = async (
  db: Connection,
  { after }: { readonly after: EpochMs },
): Promise<EpochMs | undefined> => (await db.get(NEXT_START, { after }))?.start_at as EpochMs | undefined

/** The exact `WHERE` text of the partial index on deadlines. */
const HAS_NOT_ENDED = sql<SqlBool>`status not in (${statusList(ENDED_RUN_STATUSES)})`

export const PAST_DEADLINE = compile<{ now: number; limit: number }, RunRow>((param) =>
  bounded(
    from
      .selectFrom('runs')
      .selectAll()
      .where(HAS_NOT_ENDED)
      .where('deadline_at', '<=', earlierClock(param('now')))
      .orderBy('deadline_at')
      .limit(param('limit')) as unknown as Expression<RunRow>,
    ['input', 'result', 'suspension', 'resumption'],
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
const WAITS_FOR_START = sql<SqlBool>`start_at IS NOT NULL AND status = 'queued'`

export const STARTING = compile<StartRange & { limit: number }, RunRow>((param) =>
  bounded(
    from
      .selectFrom('runs')
      .selectAll()
      .where(WAITS_FOR_START)
      .where('start_at', '>', param('after'))
      .where('start_at', '<=', earlierClock(param('through')))
      .orderBy('start_at')
      .orderBy('id')
      .limit(param('limit')) as unknown as Expression<RunRow>,
    ['input', 'result', 'suspension', 'resumption'],
  ),
)

export const NEXT_START = compile<{ after: number }, { start_at: number | null }>((param) =>
  from
    .selectFrom('runs')
    .select('start_at')
    .where(WAITS_FOR_START)
    .where('start_at', '>', param('after'))
    .orderBy('start_at')
    .limit((eb) => eb.lit(1)),
)
