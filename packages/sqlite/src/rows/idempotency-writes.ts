import type { IdempotencyRecord, StoredResponse } from '@perdure/ports'
import { sql } from 'kysely'
import type { Connection } from './connection.ts'
import { findIdempotency, IS_OF_NO_RUN } from './idempotency-store.ts'
import { compile, from, placesFor } from './query.ts'
import type { IdempotencyTable } from './schema.ts'
import type { WriteAppliers } from './write-applier.ts'

export const idempotencyWrites: WriteAppliers<
  'idempotency.reserve' | 'idempotency.complete' | 'idempotency.interrupt' | 'idempotency.prune'
> = {
  'idempotency.reserve'({ db }, { type, record, now }) {
    const { changes } = db.run(reserveRecord, { ...toRow(record), now })
    if (changes === 1) return 1
    const current = findIdempotency(db, { id: record.id, now })
    if (current === undefined) throw new Error(`the record that holds the idempotency key ${record.id} is gone`)
    return { type, current }
  },
  'idempotency.complete': ({ db }, { runId, response }) =>
    db.run(completeRecord, { run_id: runId, ...toResponseRow(response) }).changes,
  'idempotency.interrupt': ({ db }, { response }) => db.run(interruptRecords, toResponseRow(response)).changes,
  'idempotency.prune': ({ db }, { now, limit }) => db.run(pruneRecords, { now, limit }).changes,
}

const RESPONSE_COLUMNS = ['status', 'location', 'content_type', 'body', 'sealed'] as const
const COLUMNS = ['fingerprint', 'run_id', 'content_of', 'created_at', 'expires_at', ...RESPONSE_COLUMNS] as const

type IdempotencyRow = Omit<IdempotencyTable, 'key'>

/** Replaces a dead record of the same id in place; changes nothing when a live one has it. */
const reserveRecord = compile<IdempotencyRow & { now: number }, unknown>((place) =>
  from
    .insertInto('idempotency')
    .values(placesFor(place, ['id', ...COLUMNS]))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((eb) => Object.fromEntries(COLUMNS.map((column) => [column, eb.ref(`excluded.${column}`)])))
        .where('idempotency.status', 'is not', null)
        .where('idempotency.expires_at', '<=', place('now')),
    ),
)

export const completeRecord = compile<Pick<IdempotencyRow, (typeof RESPONSE_COLUMNS)[number] | 'run_id'>, unknown>(
  (place) =>
    from
      .updateTable('idempotency')
      .set(placesFor(place, RESPONSE_COLUMNS))
      .where(({ and, or, eb }) => {
        const isOfRun = eb('run_id', '=', place('run_id'))
        const holdsItsContent = eb('content_of', '=', place('run_id'))
        return or([and([holdsItsContent, isOfRun, eb('status', 'is', null)]), and([isOfRun, IS_OF_NO_RUN])])
      }),
)

export const interruptRecords = compile<Pick<IdempotencyRow, (typeof RESPONSE_COLUMNS)[number]>, unknown>((place) =>
  from
    .updateTable('idempotency')
    .set(placesFor(place, RESPONSE_COLUMNS))
    .where(IS_OF_NO_RUN)
    .where(sql<boolean>`(run_id is null or not exists (
      select 1 from run_keys join runs using (key) where run_keys.run_id = idempotency.run_id))`),
)

/** Replaces the answers that hold content of something that is deleted; their keys stay used. */
export const forgetAnswers = (db: Connection, contentOf: string, answer: StoredResponse): unknown =>
  db.run(FORGET_ANSWERS, { ...toResponseRow(answer), contentOf })

export const FORGET_ANSWERS = compile<
  Pick<IdempotencyRow, (typeof RESPONSE_COLUMNS)[number]> & { readonly contentOf: string },
  unknown
>((place) =>
  from
    .updateTable('idempotency')
    .set({ ...placesFor(place, RESPONSE_COLUMNS), run_id: null, content_of: null })
    .where('content_of', '=', place('contentOf')),
)

const pruneRecords = compile<{ now: number; limit: number }, unknown>((place) =>
  from
    .deleteFrom('idempotency')
    .where(
      'key',
      'in',
      from
        .selectFrom('idempotency')
        .select('key')
        .where('status', 'is not', null)
        .where('expires_at', '<=', place('now'))
        .orderBy('expires_at')
        .limit(place('limit')),
    ),
)

const toRow = (record: IdempotencyRecord): IdempotencyRow => ({
  id: record.id,
  fingerprint: record.fingerprint,
  run_id: record.runId ?? null,
  content_of: record.contentOf ?? null,
  created_at: record.createdAt,
  expires_at: record.expiresAt,
  ...toResponseRow(record.response),
})

const toResponseRow = (
  response: StoredResponse | undefined,
): Pick<IdempotencyRow, (typeof RESPONSE_COLUMNS)[number]> => ({
  status: response?.status ?? null,
  location: response?.location ?? null,
  content_type: response?.contentType ?? null,
  body: response?.body ?? null,
  sealed: response?.sealed === true ? 1 : null,
})
