import type {
  Clock,
  DeliveryRecord,
  EventLog,
  IdGenerator,
  StoredEvent,
  UnitOfWork,
  WebhookRecord,
  Write,
} from '@perdure/ports'
import { WEBHOOK_EVENTS } from '@perdure/protocol'
import { createWebhooksFor, type MatchingEventsDeps } from './matching-events.ts'

export interface QueueDeliveriesDeps extends MatchingEventsDeps {
  readonly events: EventLog
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdGenerator
}

/**
 * Reads the log from where the webhooks stopped, and stores a delivery for each event that they receive. One commit
 * stores the deliveries and the new positions, so that no event is queued twice or left out, also by two processes.
 * Resolves with whether the log has more.
 */
export type QueueDeliveries = (webhooks: readonly WebhookRecord[]) => Promise<boolean>

const EVENTS_PER_SCAN = 200
const MAX_SCAN_LENGTH = 4 * 1024 * 1024
/** A webhook without a delivery stores its position after this many events, to bound the scan of the next start. */
const STORE_POSITION_AFTER = 5_000

export function createQueueDeliveries(deps: QueueDeliveriesDeps): QueueDeliveries {
  const { events, unitOfWork, clock, ids } = deps
  const webhooksFor = createWebhooksFor(deps)
  /** Positions that are ahead of the stored ones. */
  const scannedThrough = new Map<string, number>()

  const deliveriesOf = async (found: readonly StoredEvent[], webhooks: readonly WebhookRecord[]) => {
    const deliveries: DeliveryRecord[] = []
    const now = clock.now()
    for (const event of found) {
      for (const webhook of await webhooksFor(event, webhooks)) {
        deliveries.push({
          id: ids.newId('delivery'),
          webhookId: webhook.id,
          type: event.type,
          position: event.position,
          status: 'pending',
          attempts: 0,
          earlierAttempts: 0,
          dueAt: now,
          createdAt: now,
        })
      }
    }
    return deliveries
  }

  return async (webhooks) => {
    const current = webhooks.map((webhook) => ({
      ...webhook,
      position: Math.max(webhook.position, scannedThrough.get(webhook.id) ?? 0),
    }))
    const after = Math.min(...current.map(({ position }) => position))
    const range = { after, limit: EVENTS_PER_SCAN, maxLength: MAX_SCAN_LENGTH }
    const { events: found, through } = await events.scan(WEBHOOK_EVENTS, range)
    if (through === after) return false
    const deliveries = await deliveriesOf(found, current)
    const receivers = new Set(deliveries.map(({ webhookId }) => webhookId))
    const moved = webhooks.filter(
      ({ id, position }) => through > position && (receivers.has(id) || through - position > STORE_POSITION_AFTER),
    )
    const writes: Write[] = [
      ...moved.map((webhook): Write => {
        const replaced = { ...webhook, position: through, version: webhook.version + 1 }
        return { type: 'webhook.replace', webhook: replaced }
      }),
      ...deliveries.map((delivery): Write => ({ type: 'delivery.insert', delivery })),
    ]
    // After a conflict, the caller reads the webhooks again.
    if (writes.length > 0 && !(await unitOfWork.commit(writes)).committed) return true
    for (const { id } of webhooks) scannedThrough.set(id, Math.max(through, scannedThrough.get(id) ?? 0))
    return true
  }
}
