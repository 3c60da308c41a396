import type { Clock, Logger, UnitOfWork, WebhookRecord } from '@perdure/ports'
import { disabledWebhook } from './disabled-webhook.ts'
import type { LostRights } from './webhook-rights.ts'

export interface WithdrawWebhooksDeps {
  readonly lostRights: LostRights
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
}

/** Disables the webhooks that may no longer send what they select, and returns the others. */
export async function withdrawWebhooks(
  { lostRights, unitOfWork, clock, logger }: WithdrawWebhooksDeps,
  webhooks: readonly WebhookRecord[],
): Promise<readonly WebhookRecord[]> {
  const lost = await lostRights(webhooks)
  for (const webhook of webhooks) {
    const reason = lost.get(webhook.id)
    if (reason === undefined) continue
    const disabled = disabledWebhook(webhook, clock.now(), reason)
    const outcome = await unitOfWork.commit([{ type: 'webhook.replace', webhook: disabled }])
    // After a conflict, the next check reads the webhook again.
    if (outcome.committed) logger.warn('disabled a webhook that has lost its rights', { webhook: webhook.id, reason })
  }
  return webhooks.filter(({ id }) => !lost.has(id))
}
