import type { DeliveryRecord, WebhookRecord } from '@perdure/ports'
import { BUILT_AT } from './builders.ts'

/** A webhook added over REST; only its required fields are set. */
export const aWebhook = (over: Partial<WebhookRecord> = {}): WebhookRecord => ({
  id: 'hook',
  url: 'https://hooks.example/perdure',
  events: ['run.*'],
  source: 'api',
  secrets: [{ sealed: 'sealed-1' }],
  position: 0,
  createdBy: 'alice',
  version: 1,
  createdAt: BUILT_AT,
  ...over,
})

/** A pending delivery of the webhook from `aWebhook()` that was never attempted. */
export const aDelivery = (over: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  id: 'del_00000000000000000000000001',
  webhookId: 'hook',
  type: 'run.completed',
  position: 0,
  status: 'pending',
  attempts: 0,
  earlierAttempts: 0,
  dueAt: BUILT_AT,
  createdAt: BUILT_AT,
  ...over,
})
