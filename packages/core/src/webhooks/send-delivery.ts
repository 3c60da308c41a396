import {
  type DeliveryChange,
  type DeliveryRecord,
  type EpochMs,
  type IdGenerator,
  type Logger,
  type Meter,
  plusMs,
  type UnitOfWork,
  type WebhookRecord,
  type WebhookResponse,
  type WebhookSender,
  type WebhookStore,
  type Write,
} from '@perdure/ports'
import { type DeliveryBodyDeps, deliveryContent } from './delivery-body.ts'
import { disabledWebhook } from './disabled-webhook.ts'
import type { LostRights } from './webhook-rights.ts'
import { type SigningDeps, signedHeaders } from './webhook-secret.ts'
import { withdrawWebhooks } from './withdraw-webhooks.ts'

export interface SendDeliveryDeps extends DeliveryBodyDeps, SigningDeps {
  readonly lostRights: LostRights
  readonly webhooks: Pick<WebhookStore, 'find'>
  readonly unitOfWork: UnitOfWork
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly meter: Meter
  readonly sender: WebhookSender
  readonly version: string
  readonly timeoutMs: number
}

/**
 * Claims the delivery, sends it once and stores the outcome. Resolves with `false` if nothing was sent: another process
 * has the lease, or the webhook is disabled or deleted, or has lost its rights, for which it is disabled.
 */
export type SendDelivery = (delivery: DeliveryRecord, stopping: AbortSignal) => Promise<boolean>

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
/** Delays after each failed attempt: ten attempts in a little over three days. */
const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
const JITTER = 0.2
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS
/** The lease outlives the request by this time, so that no other process sends while this one stores the outcome. */
const LEASE_MARGIN_MS = 15 * SECOND_MS
const MAX_ERROR_LENGTH = 500

export function createSendDelivery(deps: SendDeliveryDeps): SendDelivery {
  const { webhooks, unitOfWork, clock, ids, sender, timeoutMs } = deps

  const request = async (webhook: WebhookRecord, delivery: DeliveryRecord, signal: AbortSignal): Promise<Attempt> => {
    const content = await deliveryContent(deps, delivery)
    if (content === undefined) return { error: 'the event is no longer in the log', isFinal: true }
    const signed = await signedHeaders(deps, webhook, content)
    if (signed === undefined) return { error: 'the signing secret cannot be read; rotate it' }
    const headers = { ...signed, 'content-type': 'application/json', 'user-agent': `perdure/${deps.version}` }
    return sender.send({ url: webhook.url, headers, body: content.body, timeoutMs, signal })
  }

  return async (delivery, stopping) => {
    const webhook = await webhooks.find(delivery.webhookId)
    if (webhook === undefined || webhook.disabledAt !== undefined) return false
    if ((await withdrawWebhooks(deps, [webhook])).length === 0) return false
    const { id } = delivery
    const lease = ids.newId('delivery')
    const now = clock.now()
    const until = plusMs(now, timeoutMs + LEASE_MARGIN_MS)
    const claimed = await unitOfWork.commit([{ type: 'delivery.claim', id, lease, now, until }])
    if (!claimed.committed) return false

    const attempt = await request(webhook, delivery, stopping)
    const wasStopped = stopping.aborted && 'error' in attempt
    const change = wasStopped ? unchanged(delivery, clock.now()) : outcomeOf(deps, delivery, attempt)
    const write: Write = { type: 'delivery.change', id, lease, change }
    if (!wasStopped) report(deps, webhook, delivery, change)
    if ('status' in attempt && attempt.status === GONE) return disableGone(deps, webhook, write)
    await unitOfWork.commit([write])
    return !wasStopped
  }
}

/** `isFinal` if another attempt would fail in the same way. */
type Attempt = WebhookResponse & { readonly isFinal?: true }

const GONE = 410

const unchanged = ({ attempts, responseStatus, error }: DeliveryRecord, dueAt: EpochMs): DeliveryChange => ({
  ...{ status: 'pending', attempts, dueAt, responseStatus, error },
})

function outcomeOf(
  { clock, ids }: Pick<SendDeliveryDeps, 'clock' | 'ids'>,
  { position, attempts: before, earlierAttempts }: DeliveryRecord,
  attempt: Attempt,
): DeliveryChange {
  const now = clock.now()
  const attempts = before + 1
  const responseStatus = 'status' in attempt ? attempt.status : undefined
  const ended = { attempts, dueAt: now, responseStatus, endedAt: now } as const
  if (responseStatus !== undefined && responseStatus >= 200 && responseStatus < 300) {
    return { ...ended, status: 'delivered' }
  }
  const error = 'error' in attempt ? attempt.error.slice(0, MAX_ERROR_LENGTH) : `answered ${responseStatus}`
  const delayMs = RETRY_DELAYS_MS[attempts - earlierAttempts - 1]
  const isLast = delayMs === undefined || attempt.isFinal === true || responseStatus === GONE || position === 0
  if (isLast) return { ...ended, status: 'dead', error }
  const wantedMs = 'status' in attempt ? Math.min(attempt.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0
  const dueAt = plusMs(now, Math.max(wantedMs, Math.round(delayMs * jitter(ids))))
  return { status: 'pending', attempts, dueAt, responseStatus, error }
}

/** A factor between 1 - JITTER and 1 + JITTER. */
const jitter = (ids: IdGenerator): number => 1 - JITTER + (2 * JITTER * (ids.randomBytes(1)[0] ?? 0)) / 255

function report(
  { meter, logger }: Pick<SendDeliveryDeps, 'meter' | 'logger'>,
  { id: webhook, source }: WebhookRecord,
  { id, type }: DeliveryRecord,
  { status, attempts, responseStatus, error }: DeliveryChange,
): void {
  const outcome = status === 'pending' ? 'failed' : status
  meter.count('svc_webhook_deliveries_total', { endpoint: source === 'code' ? webhook : 'api', outcome })
  if (status === 'dead') logger.warn('gave up a webhook delivery', { webhook, delivery: id, type, attempts, error })
  if (status === 'pending') logger.info('a webhook delivery failed', { webhook, delivery: id, responseStatus, error })
}

/** The endpoint answered that it no longer exists. Returns false: nothing more may be sent. */
async function disableGone(deps: SendDeliveryDeps, webhook: WebhookRecord, write: Write): Promise<false> {
  const disabled = disabledWebhook(webhook, deps.clock.now(), 'the endpoint answered 410 Gone')
  const outcome = await deps.unitOfWork.commit([write, { type: 'webhook.replace', webhook: disabled }])
  // A concurrent change of the webhook wins; the next 410 disables it.
  if (!outcome.committed) await deps.unitOfWork.commit([write])
  else deps.logger.warn('disabled a webhook: its endpoint answered 410 Gone', { webhook: webhook.id })
  return false
}
