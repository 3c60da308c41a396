import type { UnitOfWork } from '@perdure/ports'
import { WEBHOOK_EVENTS } from '@perdure/protocol'
import {
  type ConfiguredWebhook,
  type DeclareWebhooksDeps,
  declareWebhooks,
  redeclareWebhooks,
} from './declare-webhooks.ts'
import { createManageDeliveries, type ManageDeliveriesDeps } from './manage-deliveries.ts'
import { createManageWebhooks, type ManageWebhooksDeps } from './manage-webhooks.ts'
import { createQueueDeliveries, type QueueDeliveriesDeps } from './queue-deliveries.ts'
import { createSendDelivery, type SendDeliveryDeps } from './send-delivery.ts'
import { createWebhookDaemon, type WebhookDaemonDeps } from './webhook-daemon.ts'
import { createLostRights, type WebhookRightsDeps } from './webhook-rights.ts'

export type WebhooksDeps = Omit<ManageWebhooksDeps & ManageDeliveriesDeps, 'wake'> &
  QueueDeliveriesDeps &
  Omit<SendDeliveryDeps, 'lostRights'> &
  WebhookRightsDeps &
  Pick<DeclareWebhooksDeps, 'nodes' | 'executor' | 'undeclaredMs' | 'digest'> &
  Omit<WebhookDaemonDeps, 'queueDeliveries' | 'sendDelivery' | 'lostRights'>

/** Wires the use cases of webhooks. */
export function createWebhooks(deps: WebhooksDeps) {
  const lostRights = createLostRights(deps)
  const daemon = createWebhookDaemon({
    ...deps,
    lostRights,
    queueDeliveries: createQueueDeliveries(deps),
    sendDelivery: createSendDelivery({ ...deps, lostRights }),
  })
  const { wake } = daemon
  let declared: readonly ConfiguredWebhook[] | undefined
  return {
    manageWebhooks: createManageWebhooks({ ...deps, wake }),
    manageDeliveries: createManageDeliveries({ ...deps, wake }),
    daemon,
    async declare(configured: readonly ConfiguredWebhook[]) {
      await declareWebhooks(deps, configured)
      declared = configured
    },
    /** Compares the webhooks with what the living processes declare by now. */
    async redeclare() {
      if (declared !== undefined) await redeclareWebhooks(deps, declared)
    },
  }
}

export type Webhooks = ReturnType<typeof createWebhooks>

const DELIVERED: ReadonlySet<string> = new Set(WEBHOOK_EVENTS)

/**
 * Calls `wake` after each commit with an event that webhooks deliver, or after which a token has fewer rights, while
 * `isActive`.
 */
export const withWebhookWake = (
  unitOfWork: UnitOfWork,
  daemon: () => { isActive(): boolean; wake(): void } | undefined,
): UnitOfWork => ({
  async commit(writes) {
    const outcome = await unitOfWork.commit(writes)
    const target = daemon()
    if (!target?.isActive() || !outcome.committed) return outcome
    const endsRights = writes.some(({ type }) => type === 'token.revoke' || type === 'token.retire')
    if (endsRights || outcome.events.some(({ type }) => DELIVERED.has(type))) target.wake()
    return outcome
  },
})
