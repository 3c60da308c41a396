import { EVERY_ROW, perdureError, type Visibility, type WebhookRecord, type WebhookStore } from '@perdure/ports'

/**
 * Whether a caller may see and manage the webhook. A grant for the caller's own webhooks covers those that it has added
 * for its own events: a webhook for the events of others shows more than such a grant allows.
 */
export const isVisibleWebhook = ({ id, createdBy, owner }: WebhookRecord, visibility: Visibility): boolean =>
  visibility === EVERY_ROW ||
  (visibility.owner === createdBy && visibility.owner === owner) ||
  (Array.isArray(visibility.ids) && visibility.ids.includes(id))

/** @throws PerdureError `webhook-not-found` */
export async function findWebhook(webhooks: WebhookStore, id: string, visibility: Visibility): Promise<WebhookRecord> {
  const webhook = await webhooks.find(id)
  if (webhook === undefined || !isVisibleWebhook(webhook, visibility)) throw perdureError('webhook-not-found')
  return webhook
}
