import { type DeliveryRecord, definedMembers, type WebhookRecord } from '@perdure/ports'

export interface WebhookResource {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly targets?: readonly string[] | undefined
  readonly owner: string
  readonly source: 'code' | 'api'
  readonly enabled: boolean
  readonly disabledReason?: string | undefined
  readonly undeclaredAt?: string | undefined
  readonly createdByToken?: string | undefined
  readonly createdAt: string
}

/** Stands for every owner on the wire. */
export const EVERY_OWNER = '*'

export const toWebhookResource = (webhook: WebhookRecord): WebhookResource => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events,
  ...definedMembers({
    targets: webhook.targets,
    disabledReason: webhook.disabledReason,
    createdByToken: webhook.createdByToken,
  }),
  owner: webhook.owner ?? EVERY_OWNER,
  source: webhook.source,
  enabled: webhook.disabledAt === undefined,
  ...(webhook.undeclaredAt === undefined ? {} : { undeclaredAt: toIso(webhook.undeclaredAt) }),
  createdAt: toIso(webhook.createdAt),
})

export interface DeliveryResource {
  readonly id: string
  readonly webhookId: string
  readonly type: string
  readonly status: DeliveryRecord['status']
  readonly attempts: number
  readonly nextAttemptAt?: string | undefined
  readonly responseStatus?: number | undefined
  readonly error?: string | undefined
  readonly endedAt?: string | undefined
  readonly createdAt: string
}

export const toDeliveryResource = (delivery: DeliveryRecord): DeliveryResource => ({
  id: delivery.id,
  webhookId: delivery.webhookId,
  type: delivery.type,
  status: delivery.status,
  attempts: delivery.attempts,
  ...definedMembers({
    nextAttemptAt: delivery.status === 'pending' && delivery.lease === undefined ? toIso(delivery.dueAt) : undefined,
    responseStatus: delivery.responseStatus,
    error: delivery.error,
    endedAt: delivery.endedAt === undefined ? undefined : toIso(delivery.endedAt),
  }),
  createdAt: toIso(delivery.createdAt),
})

const toIso = (at: number): string => new Date(at).toISOString()
