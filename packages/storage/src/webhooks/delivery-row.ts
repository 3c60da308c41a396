import type { DeliveryChange, DeliveryRecord, DeliveryStatus, EpochMs } from '@perdure/ports'

export interface DeliveryRow {
  readonly id: string
  readonly webhook_id: string
  readonly type: string
  readonly position: number
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly earlier_attempts: number
  readonly due_at: number
  readonly lease: string | null
  readonly response_status: number | null
  readonly error: string | null
  readonly ended_at: number | null
  readonly created_at: number
}

export const DELIVERY_COLUMNS = [
  'id',
  'webhook_id',
  'type',
  'position',
  'status',
  'attempts',
  'earlier_attempts',
  'due_at',
  'lease',
  'response_status',
  'error',
  'ended_at',
  'created_at',
] as const

export const CHANGED_DELIVERY_COLUMNS = [
  'status',
  'attempts',
  'due_at',
  'response_status',
  'error',
  'ended_at',
] as const

export const toDeliveryRow = (delivery: DeliveryRecord): DeliveryRow => ({
  ...toChangedColumns(delivery),
  id: delivery.id,
  webhook_id: delivery.webhookId,
  type: delivery.type,
  position: delivery.position,
  earlier_attempts: delivery.earlierAttempts,
  lease: delivery.lease ?? null,
  created_at: delivery.createdAt,
})

export const toChangedColumns = (
  change: DeliveryChange,
): Pick<DeliveryRow, (typeof CHANGED_DELIVERY_COLUMNS)[number]> => ({
  status: change.status,
  attempts: change.attempts,
  due_at: change.dueAt,
  response_status: change.responseStatus ?? null,
  error: change.error ?? null,
  ended_at: change.endedAt ?? null,
})

export const toDelivery = (row: DeliveryRow): DeliveryRecord => ({
  id: row.id,
  webhookId: row.webhook_id,
  type: row.type,
  position: row.position,
  status: row.status,
  attempts: row.attempts,
  earlierAttempts: row.earlier_attempts,
  dueAt: row.due_at as EpochMs,
  lease: row.lease ?? undefined,
  responseStatus: row.response_status ?? undefined,
  error: row.error ?? undefined,
  endedAt: (row.ended_at ?? undefined) as EpochMs | undefined,
  createdAt: row.created_at as EpochMs,
})
