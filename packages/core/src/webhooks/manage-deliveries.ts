import {
  type DeliveryRecord,
  type DeliveryStatus,
  type DeliveryStore,
  type IdGenerator,
  type Page,
  type PageQuery,
  perdureError,
  type Visibility,
  type WebhookStore,
} from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { Reply } from '../idempotency/reply.ts'
import { TEST_EVENT } from './delivery-body.ts'
import { findWebhook } from './find-webhook.ts'
import type { WebhookCall } from './manage-webhooks.ts'
import { type DeliveryResource, toDeliveryResource } from './webhook-resource.ts'

export interface ManageDeliveriesDeps extends CommitOnceDeps {
  readonly webhooks: WebhookStore
  readonly deliveries: DeliveryStore
  readonly ids: IdGenerator
  readonly wake: () => void
}

interface DeliveryListQuery extends PageQuery {
  readonly status?: DeliveryStatus | undefined
}

export interface ManageDeliveries {
  /** @throws PerdureError `webhook-not-found` */
  list(webhookId: string, query: DeliveryListQuery, visibility: Visibility): Promise<Page<DeliveryResource>>
  /** @throws PerdureError `webhook-not-found`, `delivery-not-found` */
  get(webhookId: string, deliveryId: string, visibility: Visibility): Promise<DeliveryResource>
  /**
   * Sends the delivery again, with the same id and the retries of a new one.
   * @throws PerdureError `webhook-not-found`, `delivery-not-found`, `delivery-in-progress`, `webhook-disabled`
   */
  redeliver(call: WebhookCall & { readonly deliveryId: string }): Promise<Reply>
  /** Sends a test event once. @throws PerdureError `webhook-not-found`, `webhook-disabled` */
  test(call: WebhookCall): Promise<Reply>
}

export function createManageDeliveries(deps: ManageDeliveriesDeps): ManageDeliveries {
  const { webhooks, deliveries, clock, ids, wake } = deps

  const find = async (webhookId: string, deliveryId: string): Promise<DeliveryRecord> => {
    const delivery = await deliveries.find(deliveryId)
    if (delivery?.webhookId !== webhookId) throw perdureError('delivery-not-found')
    return delivery
  }

  const findEnabled = async ({ webhookId, visibility }: WebhookCall) => {
    const { disabledAt, disabledReason } = await findWebhook(webhooks, webhookId, visibility)
    if (disabledAt === undefined) return
    throw perdureError('webhook-disabled', { message: disabledReason, hint: 'enable the webhook first' })
  }

  return {
    async list(webhookId, { status, ...page }, visibility) {
      await findWebhook(webhooks, webhookId, visibility)
      const { items, nextCursor } = await deliveries.list({ webhookId, status }, page)
      return { items: items.map(toDeliveryResource), nextCursor }
    },
    async get(webhookId, deliveryId, visibility) {
      await findWebhook(webhooks, webhookId, visibility)
      return toDeliveryResource(await find(webhookId, deliveryId))
    },
    async redeliver({ deliveryId, ...call }) {
      const once = await requireAudit(() =>
        commitOnce(deps, call.key, async () => {
          await findEnabled(call)
          const delivery = await find(call.webhookId, deliveryId)
          if (delivery.lease !== undefined) throw perdureError('delivery-in-progress')
          const now = clock.now()
          const entry = { at: now, action: 'webhooks.redeliver', target: call.webhookId, detail: { deliveryId } }
          const again: DeliveryRecord = { ...delivery, status: 'pending', dueAt: now, endedAt: undefined }
          return {
            writes: [{ type: 'delivery.redeliver', id: deliveryId, now }, auditWrite(call.principal, entry)],
            reply: { status: 202, body: toDeliveryResource(again) },
            remember: true,
          }
        }),
      )
      wake()
      return once.kind === 'replayed' ? once.reply : once.decision.reply
    },
    async test(call) {
      const once = await commitOnce(deps, call.key, async () => {
        await findEnabled(call)
        const now = clock.now()
        const delivery: DeliveryRecord = {
          id: ids.newId('delivery'),
          webhookId: call.webhookId,
          type: TEST_EVENT,
          position: 0,
          status: 'pending',
          attempts: 0,
          earlierAttempts: 0,
          dueAt: now,
          createdAt: now,
        }
        return {
          writes: [{ type: 'delivery.insert', delivery }],
          reply: { status: 202, body: toDeliveryResource(delivery) },
          remember: true,
        }
      })
      wake()
      return once.kind === 'replayed' ? once.reply : once.decision.reply
    },
  }
}
