import type { Emitter } from '../lifecycle/emitter.ts'
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

export type { ManageDeliveries } from './manage-deliveries.ts'
export type { ManageWebhooks } from './manage-webhooks.ts'

export type WebhooksDeps = Omit<ManageWebhooksDeps & ManageDeliveriesDeps, 'wake'> &
  QueueDeliveriesDeps &
  Omit<SendDeliveryDeps, 'lostRights'> &
  WebhookRightsDeps &
  Pick<DeclareWebhooksDeps, 'nodes' | 'executor' | 'undeclaredMs' | 'digest'> &
  Omit<WebhookDaemonDeps, 'queueDeliveries' | 'sendDelivery' | 'lostRights'> & {
    /** Emitted after each commit that may concern a delivery. */
    readonly deliveriesDue: Pick<Emitter, 'on'>
  }

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
  deps.deliveriesDue.on(() => {
    if (daemon.isActive()) wake()
  })
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
