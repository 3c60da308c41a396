import type { EpochMs } from '@perdure/ports'
import { ACTIVE_RUN_STATUSES } from '@perdure/protocol'
import { type IdempotencyRow, type Param, toIdempotency } from '@perdure/sql'
import { type Compilable, type SqlBool, sql } from 'kysely'
import type { Connection } from '../file/connection.ts'
import { compile, from } from '../query/compile.ts'
import { readMeta } from './meta.ts'
import { isOneOf } from './run-filter.ts'

/**
 * Matches pending responses that no run will provide, with the exact `WHERE` text of the partial index. A response that
 * a run will provide is found by `content_of` instead: the run exists as long as the response is pending.
 */
export const IS_PENDING_NON_RUN_ANSWER = sql<SqlBool>`status is null and coalesce(run_id, '') is not content_of`

export function findIdempotency(db: Connection, { id, now }: { id: string; now: EpochMs }) {
  const row = db.get(selectLive, { id, now })
  return row === undefined ? undefined : toIdempotency(row)
}

export const findRunIds = (db: Connection, { ids, now }: { ids: readonly string[]; now: EpochMs }): readonly string[] =>
  db.all(RUN_IDS, { ids: JSON.stringify(ids), now }).map(({ run_id }) => run_id)

/**
 * Whether ids in the form used before schema version 18 (64 hex digits) must be looked up: some have not expired yet or
 * still have a pending response.
 */
export const holdsLegacyIds = (db: Connection, now: EpochMs): boolean =>
  now < Number(readMeta(db, 'hashed_ids_until')) || PENDING_LEGACY_IDS.some((query) => db.get(query, {}) !== undefined)

const IS_LEGACY_ID = sql<SqlBool>`length(idempotency.id) = 64 and instr(idempotency.id, ':') = 0`

/** The first query finds a pending response that no run will provide; the second, one of a run that has not ended. */
export const PENDING_LEGACY_IDS = [
  compile<object, { key: number }>(() =>
    from
      .selectFrom('idempotency')
      .select('key')
      .where(IS_PENDING_NON_RUN_ANSWER)
      .where(IS_LEGACY_ID)
      .limit((eb) => eb.lit(1)),
  ),
  compile<object, { key: number }>(() =>
    from
      .selectFrom('runs')
      .innerJoin('idempotency', 'idempotency.content_of', 'runs.id')
      .select('idempotency.key')
      .where(isOneOf(ACTIVE_RUN_STATUSES, 'runs.status'))
      .where('idempotency.status', 'is', null)
      .where(IS_LEGACY_ID)
      .limit((eb) => eb.lit(1)),
  ),
]

export const RUN_IDS = compile<{ ids: string; now: number }, { run_id: string }>((param) => {
  const query = from
    .selectFrom('idempotency')
    .select('run_id')
    .where(sql<SqlBool>`id in (select value from json_each(${param('ids')}))`)
    .where('run_id', 'is not', null)
    .where(isLive(param))
  return query as unknown as Compilable<{ run_id: string }>
})

const isLive = (param: Param<{ now: number }>) => sql<SqlBool>`(status is null or expires_at > ${param('now')})`

const selectLive = compile<{ id: string; now: number }, IdempotencyRow>((param) =>
  from.selectFrom('idempotency').selectAll().where('id', '=', param('id')).where(isLive(param)),
)
