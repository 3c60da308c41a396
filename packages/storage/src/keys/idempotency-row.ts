import type { EpochMs, IdempotencyRecord, StoredResponse } from '@perdure/ports'
import { type Changes, type ColumnTypes, columnsOf, type RowIn, recordTable } from '../query/record-table.ts'

export const RESPONSES = recordTable<StoredResponse>()({
  status: 'integer',
  location: 'text',
  contentType: 'text',
  body: 'text',
  sealed: { type: 'integer', write: () => 1 },
})

const REQUESTS = recordTable<Omit<IdempotencyRecord, 'response'>>()({
  id: 'text',
  fingerprint: 'text',
  runId: 'text',
  contentOf: 'text', // id of the run, session or approval whose content the response holds
  createdAt: 'bigint',
  expiresAt: 'bigint',
  executor: 'text',
  patientUntil: 'bigint',
})

/** All columns are null while the request executes. */
export type ResponseColumns = Changes<RowIn<typeof RESPONSES>>

export type IdempotencyRow = RowIn<typeof REQUESTS> & ResponseColumns

export const IDEMPOTENCY_TYPES: ColumnTypes<IdempotencyRow> = { ...REQUESTS.types, ...RESPONSES.types }

/** All but the key. */
export const IDEMPOTENCY_COLUMNS = columnsOf(IDEMPOTENCY_TYPES).filter((column) => column !== 'id')

export const toIdempotencyRow = (record: IdempotencyRecord): IdempotencyRow => ({
  id: record.id,
  fingerprint: record.fingerprint,
  run_id: record.runId ?? null,
  content_of: record.contentOf ?? null,
  created_at: record.createdAt,
  expires_at: record.expiresAt,
  executor: record.executor ?? null,
  patient_until: record.patientUntil ?? null,
  ...toResponseRow(record.response),
})

export const toResponseRow = (response: StoredResponse | undefined): ResponseColumns => ({
  status: response?.status ?? null,
  location: response?.location ?? null,
  content_type: response?.contentType ?? null,
  body: response?.body ?? null,
  sealed: response?.sealed === true ? 1 : null,
})

export function toIdempotency(row: IdempotencyRow): IdempotencyRecord {
  const { id, fingerprint, run_id, content_of, created_at, expires_at, status, body, location, content_type, sealed } =
    row
  return {
    id,
    fingerprint,
    runId: run_id ?? undefined,
    contentOf: content_of ?? undefined,
    createdAt: created_at as EpochMs,
    expiresAt: expires_at as EpochMs,
    executor: row.executor ?? undefined,
    patientUntil: (row.patient_until ?? undefined) as EpochMs | undefined,
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
