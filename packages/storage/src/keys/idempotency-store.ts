import type { EpochMs, IdempotencyRecord, IdempotencyStore } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Param, type Query } from '../query/compile.ts'
import type { Db, Dialect } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import type { Reads } from '../reads.ts'
import { isOneOf } from '../runs/run-filter.ts'
import { type IdempotencyRow, toIdempotency } from './idempotency-row.ts'

/**
 * Matches pending responses that no run will provide, with the exact `WHERE` text of the partial index. A response that
 * a run will provide is found by `content_of` instead: the run exists as long as the response is pending.
 */
export const IS_PENDING_NON_RUN_ANSWER = sql<SqlBool>`status is null and coalesce(run_id, '') is distinct from content_of`

export const idempotencyReads: Reads<IdempotencyStore> = {
  *find(db, id, now) {
    const row = yield* db.get(SELECT_LIVE, { id, now })
    return row && toIdempotency(row)
  },
  *runIds(db, ids, now) {
    return (yield* db.all(RUN_IDS, { ids, now })).map(({ run_id }) => run_id)
  },
  /**
   * Ids in the form used before schema version 18 of SQLite have 64 hex digits. PostgreSQL has them if they were copied
   * from a database file.
   */
  *holdsLegacyIds(db, now) {
    for (const query of LEGACY_IDS) if ((yield* db.get(query, { now })) !== undefined) return true
    return false
  },
}

/** Like `find`, for many ids in one statement. */
export function* findIdempotencies(
  db: Db,
  { ids, now }: { ids: readonly string[]; now: EpochMs },
): Program<readonly IdempotencyRecord[]> {
  return (yield* db.all(SELECT_MANY, { ids, now })).map(toIdempotency)
}

const IS_LEGACY_ID = sql<SqlBool>`length(idempotency.id) = 64 and idempotency.id not like '%:%'`

/** The second query finds a pending response that no run will provide; the third, one of a run that has not ended. */
export const LEGACY_IDS: readonly Query<{ now: number }, { found: number }>[] = [
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
      .where(isOneOf(ACTIVE_RUN_STATUSES, 'runs.status'))
      .where('idempotency.status', 'is', null)
      .where(IS_LEGACY_ID)
      .limit((eb) => eb.lit(1)),
  ),
]

const isLive = (param: Param<{ now: number }>, { earlierClock }: Dialect) =>
  sql<SqlBool>`(status is null or expires_at > ${earlierClock(param('now'))})`

const SELECT_LIVE = compile<{ id: string; now: number }, IdempotencyRow>((param, dialect) =>
  from.selectFrom('idempotency').selectAll().where('id', '=', param('id')).where(isLive(param, dialect)),
)

const SELECT_MANY = compile<{ ids: readonly string[]; now: number }, IdempotencyRow>((param, dialect) =>
  from
    .selectFrom('idempotency')
    .selectAll()
    .where(dialect.isOneOf('id', param('ids')))
    .where(isLive(param, dialect)),
)

export const RUN_IDS = compile<{ ids: readonly string[]; now: number }, { run_id: string }>((param, dialect) => {
  const query = from
    .selectFrom('idempotency')
    .select('run_id')
    .where(dialect.isOneOf('id', param('ids')))
    .where('run_id', 'is not', null)
    .where(isLive(param, dialect))
  return query.$castTo<{ run_id: string }>()
})
