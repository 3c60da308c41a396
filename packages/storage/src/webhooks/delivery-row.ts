import type { DeliveryRecord } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

export type DeliveryRow = RowIn<typeof DELIVERIES>

export const DELIVERIES = recordTable<DeliveryRecord>()({
  id: 'text',
  webhookId: 'text',
  type: 'text',
  position: 'bigint',
  status: 'text',
  attempts: 'integer',
  earlierAttempts: 'integer',
  dueAt: 'bigint',
  lease: 'text',
  responseStatus: 'integer',
  error: 'text',
  endedAt: 'bigint',
  createdAt: 'bigint',
})

export const DELIVERY_OUTCOMES = DELIVERIES.only('status', 'attempts', 'dueAt', 'responseStatus', 'error', 'endedAt')
