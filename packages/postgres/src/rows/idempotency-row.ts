import type { EpochMs, IdempotencyRecord, StoredResponse } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { IdempotencyTable } from '../query/schema.ts'

export type NewIdempotencyRow = IdempotencyTable

export const RESPONSE_COLUMNS = ['status', 'location', 'content_type', 'body', 'sealed'] as const
export type ResponseColumns = Pick<NewIdempotencyRow, (typeof RESPONSE_COLUMNS)[number]>

export const IDEMPOTENCY_COLUMNS = [
  'fingerprint',
  'run_id',
  'content_of',
  'created_at',
  'expires_at',
  ...RESPONSE_COLUMNS,
  'executor',
  'patient_until',
] as const

export const toIdempotencyRow = (record: IdempotencyRecord): NewIdempotencyRow => ({
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

export function toIdempotency(row: Selectable<IdempotencyTable>): IdempotencyRecord {
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
