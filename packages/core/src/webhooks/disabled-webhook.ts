import type { EpochMs, WebhookRecord } from '@perdure/ports'

export const disabledWebhook = (
  webhook: WebhookRecord,
  disabledAt: EpochMs,
  disabledReason: string,
): WebhookRecord => ({
  ...{ ...webhook, disabledAt, disabledReason, version: webhook.version + 1 },
})

/** Events while the webhook was disabled are skipped: `position` is the head of the log. */
export const enabledWebhook = (webhook: WebhookRecord, position: number): WebhookRecord => ({
  ...webhook,
  position: Math.max(position, webhook.position),
  disabledAt: undefined,
  disabledReason: undefined,
  version: webhook.version + 1,
})
