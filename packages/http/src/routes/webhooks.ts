import type { webhookOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'

type Deps = Pick<UseCases, 'manageWebhooks' | 'manageDeliveries'>

/** `/webhooks`: endpoints that receive events, and their deliveries. */
export const webhookRoutes = ({ manageWebhooks, manageDeliveries }: Deps): Handlers<typeof webhookOperations> => ({
  listWebhooks: async ({ query, visibility }) => ({ status: 200, body: await manageWebhooks.list(query, visibility) }),
  createWebhook: ({ body: webhook, principal, visibility, key }) =>
    manageWebhooks.create({ webhook, principal, visibility, key }),
  getWebhook: async ({ params, visibility }) => ({
    status: 200,
    body: await manageWebhooks.get(params.webhookId, visibility),
  }),
  updateWebhook: ({ params, body: change, principal, visibility, key }) =>
    manageWebhooks.update({ ...params, change, principal, visibility, key }),
  deleteWebhook: ({ params, principal, visibility, key }) =>
    manageWebhooks.remove({ ...params, principal, visibility, key }),
  enableWebhook: ({ params, principal, visibility, key }) =>
    manageWebhooks.enable({ ...params, principal, visibility, key }),
  disableWebhook: ({ params, principal, visibility, key }) =>
    manageWebhooks.disable({ ...params, principal, visibility, key }),
  rotateWebhook: ({ params, body: { graceSeconds }, principal, visibility, key }) =>
    manageWebhooks.rotate({ ...params, graceSeconds, principal, visibility, key }),
  testWebhook: ({ params, principal, visibility, key }) =>
    manageDeliveries.test({ ...params, principal, visibility, key }),
  listDeliveries: async ({ params, query, visibility }) => ({
    status: 200,
    body: await manageDeliveries.list(params.webhookId, query, visibility),
  }),
  getDelivery: async ({ params, visibility }) => ({
    status: 200,
    body: await manageDeliveries.get(params.webhookId, params.deliveryId, visibility),
  }),
  redeliver: ({ params, principal, visibility, key }) =>
    manageDeliveries.redeliver({ ...params, principal, visibility, key }),
})
