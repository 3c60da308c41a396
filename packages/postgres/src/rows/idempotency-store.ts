import type { EpochMs } from '@perdure/ports'
import { type Compilable, type Selectable, type SqlBool, sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'
import { compile, from, type Param } from '../query/compile.ts'
import type { IdempotencyTable } from '../query/schema.ts'
import { toIdempotency } from './idempotency-row.ts'

/**
 * Matches pending responses that no run will provide, with the exact `WHERE` text of the partial index. A response that
 * a run will provide is found by `content_of` instead: the run exists as long as the response is pending.
 */
export const IS_PENDING_NON_RUN_ANSWER = sql<SqlBool>`status is null and coalesce(run_id, '') is distinct from content_of`

export async function findIdempotency(db: Connection, { id, now }: { id: string; now: EpochMs }) {
  const row = await db.get(selectLive, { id, now })
  return row === undefined ? undefined : toIdempotency(row)
}

export const findRunIds = async (
  db: Connection,
  { ids, now }: { ids: readonly string[]; now: EpochMs },
): Promise<readonly string[]> => (await db.all(RUN_IDS, { ids, now })).map(({ run_id }) => run_id)

/** No release has stored ids of the form that was used before schema version 18 of the SQLite adapter. */
export const holdsLegacyIds = async (): Promise<boolean> => false

export const RUN_IDS = compile<{ ids: readonly string[]; now: number }, { run_id: string }>((param) => {
  const query = from
    .selectFrom('idempotency')
    .select('run_id')
    .where(sql<SqlBool>`id = any(${param('ids')})`)
    .where('run_id', 'is not', null)
    .where(isLive(param))
  return query as unknown as Compilable<{ run_id: string }>
})

const isLive = (param: Param<{ now: number }>) => sql<SqlBool>`(status is null or expires_at > ${param('now')})`

const selectLive = compile<{ id: string; now: number }, Selectable<IdempotencyTable>>((param) =>
  from.selectFrom('idempotency').selectAll().where('id', '=', param('id')).where(isLive(param)),
)
