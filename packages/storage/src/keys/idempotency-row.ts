import type { EpochMs, IdempotencyRecord, StoredResponse } from '@perdure/ports'

export interface IdempotencyRow {
  readonly id: string
  readonly fingerprint: string
  readonly run_id: string | null
  readonly content_of: string | null // id of the run, session or approval whose content the response holds
  readonly created_at: number
  readonly expires_at: number
  readonly status: number | null // of the response; null while the request executes
  readonly location: string | null
  readonly content_type: string | null
  readonly body: string | null
  readonly sealed: number | null // 1 when the body is sealed
  readonly executor: string | null
  readonly patient_until: number | null
}

export const RESPONSE_COLUMNS = ['status', 'location', 'content_type', 'body', 'sealed'] as const
export type ResponseColumns = Pick<IdempotencyRow, (typeof RESPONSE_COLUMNS)[number]>

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
