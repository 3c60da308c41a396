import type { EpochMs, IdempotencyRecord } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { type IdempotencyRow, type Param, type Query, statusList, toIdempotency } from '@perdure/sql'
import { type Compilable, type SqlBool, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'
import { earlierClock } from '../query/earlier-clock.ts'

/**
 * Matches pending responses that no run will provide, with the exact `WHERE` text of the partial index. A response that
 * a run will provide is found by `content_of` instead: the run exists as long as the response is pending.
 */
export const IS_PENDING_NON_RUN_ANSWER = sql<SqlBool>`status is null and coalesce(run_id, '') is distinct from content_of`

export const findIdempotency = async (
  db: Connection,
  { ids, now }: { ids: readonly string[]; now: EpochMs },
): Promise<readonly IdempotencyRecord[]> => (await db.all(selectLive, { ids, now })).map(toIdempotency)

export const findRunIds = async (
  db: Connection,
  { ids, now }: { ids: readonly string[]; now: EpochMs },
): Promise<readonly string[]> => (await db.all(RUN_IDS, { ids, now })).map(({ run_id }) => run_id)

/**
 * Whether ids in the form used before schema version 18 of the SQLite adapter (64 hex digits) must be looked up: some
 * were copied from a database file, and have not expired yet or still have a pending response.
 */
export async function holdsLegacyIds(db: Connection, now: EpochMs): Promise<boolean> {
  for (const query of LEGACY_IDS) if ((await db.get(query, { now })) !== undefined) return true
  return false
}

const IS_LEGACY_ID = sql<SqlBool>`length(idempotency.id) = 64 and strpos(idempotency.id, ':') = 0`

type LegacyIdQuery = Query<{ now: number }, { found: number }>

/** The second query finds a pending response that no run will provide; the third, one of a run that has not ended. */
const LEGACY_IDS: readonly LegacyIdQuery[] = [
  compile((param) =>
    from
      .selectFrom('meta')
      .select((eb) => eb.lit(1).as('found'))
      .where('name', '=', 'hashed_ids_until')
      .where((eb) => eb(eb.cast<number>('value', 'bigint'), '>', eb.cast<number>(param('now'), 'bigint'))),
  ),
  compile(() =>
    from
      .selectFrom('idempotency')
      .select((eb) => eb.lit(1).as('found'))
      .where(IS_PENDING_NON_RUN_ANSWER)
      .where(IS_LEGACY_ID)
      .limit((eb) => eb.lit(1)),
  ),
  compile(() =>
    from
      .selectFrom('runs')
      .innerJoin('idempotency', 'idempotency.content_of', 'runs.id')
      .select((eb) => eb.lit(1).as('found'))
      .where(sql<SqlBool>`runs.status in (${statusList(ACTIVE_RUN_STATUSES)})`)
      .where('idempotency.status', 'is', null)
      .where(IS_LEGACY_ID)
      .limit((eb) => eb.lit(1)),
  ),
]

export const RUN_IDS = compile<{ ids: readonly string[]; now: number }, { run_id: string }>((param) => {
  const query = from
    .selectFrom('idempotency')
    .select('run_id')
    .where(sql<SqlBool>`id = any(${param('ids')})`)
    .where('run_id', 'is not', null)
    .where(isLive(param))
  return query as unknown as Compilable<{ run_id: string }>
})

const isLive = (param: Param<{ now: number }>) =>
  sql<SqlBool>`(status is null or expires_at > ${earlierClock(param('now'))})`

const selectLive = compile<{ ids: readonly string[]; now: number }, IdempotencyRow>((param) =>
  from
    .selectFrom('idempotency')
    .selectAll()
    .where(sql<SqlBool>`id = any(${param('ids')}::text[])`)
    .where(isLive(param)),
)
