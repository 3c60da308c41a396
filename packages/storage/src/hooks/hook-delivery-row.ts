import type { HookDeliveryRecord } from '@perdure/ports'
import { JSON_TEXT, type RowIn, recordTable } from '../query/record-table.ts'

export type HookDeliveryRow = RowIn<typeof HOOK_DELIVERIES>

export const HOOK_DELIVERIES = recordTable<HookDeliveryRecord>()({
  id: 'text',
  hookId: 'text',
  deliveryId: 'text',
  replays: 'integer',
  createdAt: 'bigint',
  headers: 'text',
  body: 'text',
  status: 'text',
  reason: 'text',
  event: 'text',
  fireIds: JSON_TEXT,
  handledAt: 'bigint',
})

export const HOOK_OUTCOMES = HOOK_DELIVERIES.only('status', 'reason', 'event', 'fireIds', 'handledAt')
