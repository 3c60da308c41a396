import type { EpochMs, HookDeliveryRecord, HookDeliveryStatus, HookOutcome, JsonText } from '@perdure/ports'

export interface HookDeliveryRow {
  readonly id: string
  readonly hook_id: string
  readonly delivery_id: string
  readonly status: HookDeliveryStatus
  readonly reason: string | null
  readonly event: string | null
  readonly fire_ids: string // JSON
  readonly replays: number
  readonly handled_at: number
  readonly created_at: number
  readonly headers: string // JSON
  readonly body: string // JSON
}

export const HOOK_OUTCOME_COLUMNS = ['status', 'reason', 'event', 'fire_ids', 'handled_at'] as const

export const HOOK_DELIVERY_COLUMNS = [
  ...(['id', 'hook_id', 'delivery_id', 'replays', 'created_at', 'headers', 'body'] as const),
  ...HOOK_OUTCOME_COLUMNS,
] as const

export type HookOutcomeColumns = Pick<HookDeliveryRow, (typeof HOOK_OUTCOME_COLUMNS)[number]>

export const toOutcomeColumns = (outcome: HookOutcome): HookOutcomeColumns => ({
  status: outcome.status,
  reason: outcome.reason ?? null,
  event: outcome.event ?? null,
  fire_ids: JSON.stringify(outcome.fireIds),
  handled_at: outcome.handledAt,
})

export const toHookDeliveryRow = (delivery: HookDeliveryRecord): HookDeliveryRow => ({
  ...toOutcomeColumns(delivery),
  id: delivery.id,
  hook_id: delivery.hookId,
  delivery_id: delivery.deliveryId,
  replays: delivery.replays,
  created_at: delivery.createdAt,
  headers: delivery.headers,
  body: delivery.body,
})

export const toHookDelivery = (row: HookDeliveryRow): HookDeliveryRecord => ({
  id: row.id,
  hookId: row.hook_id,
  deliveryId: row.delivery_id,
  status: row.status,
  reason: row.reason ?? undefined,
  event: row.event ?? undefined,
  fireIds: JSON.parse(row.fire_ids),
  replays: row.replays,
  handledAt: row.handled_at as EpochMs,
  createdAt: row.created_at as EpochMs,
  headers: row.headers as JsonText,
  body: row.body as JsonText,
})
