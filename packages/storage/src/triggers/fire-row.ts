import type { EpochMs, FireRecord, FireStatus, JsonText } from '@perdure/ports'

export interface FireRow {
  readonly id: string
  readonly trigger_id: string
  readonly scheduled_at: number
  readonly cause: FireRecord['cause']
  readonly status: FireStatus
  readonly input: string | null
  readonly session_id: string | null
  readonly fired_at: number | null
  readonly run_id: string | null
  readonly reason: string | null
  readonly created_at: number
}

export const FIRE_COLUMNS = [
  'id',
  'trigger_id',
  'scheduled_at',
  'cause',
  'status',
  'input',
  'session_id',
  'fired_at',
  'run_id',
  'reason',
  'created_at',
] as const

export const toFireRow = (fire: FireRecord): FireRow => ({
  id: fire.id,
  trigger_id: fire.triggerId,
  scheduled_at: fire.scheduledAt,
  cause: fire.cause,
  status: fire.status,
  input: fire.input ?? null,
  session_id: fire.sessionId ?? null,
  fired_at: fire.firedAt ?? null,
  run_id: fire.runId ?? null,
  reason: fire.reason ?? null,
  created_at: fire.createdAt,
})

export const toFire = (row: FireRow): FireRecord => ({
  id: row.id,
  triggerId: row.trigger_id,
  scheduledAt: row.scheduled_at as EpochMs,
  cause: row.cause,
  status: row.status,
  input: (row.input ?? undefined) as JsonText | undefined,
  firedAt: (row.fired_at ?? undefined) as EpochMs | undefined,
  sessionId: row.session_id ?? undefined,
  runId: row.run_id ?? undefined,
  reason: row.reason ?? undefined,
  createdAt: row.created_at as EpochMs,
})
