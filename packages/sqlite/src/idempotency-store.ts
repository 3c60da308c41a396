import type { EpochMs, IdempotencyRecord } from '@berth/ports'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Connection } from './connection.ts'
import { readMeta } from './meta.ts'
import { compile, from } from './query.ts'
import type { IdempotencyTable } from './schema.ts'

export function findIdempotency(db: Connection, { id, now }: { id: string; now: EpochMs }) {
  const row = db.get(selectLive, { id, now })
  return row === undefined ? undefined : toRecord(row)
}

/** Ids before schema version 18 were 64 digits; an answer under such an id that is still to come counts whenever it comes. */
export const holdsHashedIds = (db: Connection, now: EpochMs): boolean =>
  now < Number(readMeta(db, 'hashed_ids_until')) || db.get(EXECUTING_HASHED, {}) !== undefined

export const EXECUTING_HASHED = compile<object, { key: number }>(() =>
  from
    .selectFrom('idempotency')
    .select('key')
    .where('status', 'is', null)
    .where(sql<SqlBool>`length(id) = 64 and instr(id, ':') = 0`)
    .limit((eb) => eb.lit(1)),
)

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
