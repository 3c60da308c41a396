import type { EpochMs, IdempotencyRecord } from '@perdure/ports'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { readMeta } from './meta.ts'
import { compile, from } from './query.ts'
import { ACTIVE, isOneOf } from './run-store.ts'
import type { IdempotencyTable } from './schema.ts'

/**
 * In the words of the partial index. The answer of a run holds that run's content: it is found by that, and the run is there
 * for as long as the answer is to come.
 */
export const IS_OF_NO_RUN = sql<SqlBool>`status is null and coalesce(run_id, '') is not content_of`

export function findIdempotency(db: Connection, { id, now }: { id: string; now: EpochMs }) {
  const row = db.get(selectLive, { id, now })
  return row === undefined ? undefined : toRecord(row)
}

/** Ids before schema version 18 were 64 digits; an answer under such an id that is still to come counts whenever it comes. */
export const holdsHashedIds = (db: Connection, now: EpochMs): boolean =>
  now < Number(readMeta(db, 'hashed_ids_until')) || EXECUTING_HASHED.some((query) => db.get(query, {}) !== undefined)

const IS_HASHED = sql<SqlBool>`length(idempotency.id) = 64 and instr(idempotency.id, ':') = 0`

/** The answers that are no run's to give, and those of the runs that have not ended. */
export const EXECUTING_HASHED = [
  compile<object, { key: number }>(() =>
    from
      .selectFrom('idempotency')
      .select('key')
      .where(IS_OF_NO_RUN)
      .where(IS_HASHED)
      .limit((eb) => eb.lit(1)),
  ),
  compile<object, { key: number }>(() =>
    from
      .selectFrom('runs')
      .innerJoin('idempotency', 'idempotency.content_of', 'runs.id')
      .select('idempotency.key')
      .where(isOneOf(ACTIVE, 'runs.status'))
      .where('idempotency.status', 'is', null)
      .where(IS_HASHED)
      .limit((eb) => eb.lit(1)),
  ),
]

const selectLive = compile<{ id: string; now: number }, Selectable<IdempotencyTable>>((place) =>
  from
    .selectFrom('idempotency')
    .selectAll()
    .where('id', '=', place('id'))
    .where((eb) => eb.or([eb('status', 'is', null), eb('expires_at', '>', place('now'))])),
)

function toRecord(row: Selectable<IdempotencyTable>): IdempotencyRecord {
  const { id, fingerprint, run_id, content_of, created_at, expires_at, status, body, location, content_type, sealed } =
    row
  return {
    id,
    fingerprint,
    runId: run_id ?? undefined,
    contentOf: content_of ?? undefined,
    createdAt: created_at as EpochMs,
    expiresAt: expires_at as EpochMs,
    response:
      status === null
        ? undefined
        : {
            status,
            body: body ?? '',
            location: location ?? undefined,
            contentType: content_type ?? undefined,
            sealed: sealed === 1 ? true : undefined,
          },
  }
}
