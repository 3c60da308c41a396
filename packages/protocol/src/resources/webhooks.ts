import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { WebhookEventPattern } from '../webhook-events.ts'
import { Count } from './count.ts'

const MAX_PATTERNS = 20
const MAX_TARGETS = 100
const MAX_GRACE_SECONDS = 30 * 86_400
const DAY_SECONDS = 86_400

export const WebhookUrl = v.pipe(v.string(), v.url(), v.maxLength(2_048))
export const WebhookEvents = v.pipe(v.array(WebhookEventPattern), v.minLength(1), v.maxLength(MAX_PATTERNS))
export const WebhookTargets = v.pipe(v.array(OperatorId), v.minLength(1), v.maxLength(MAX_TARGETS))
export const WebhookOwner = v.pipe(v.string(), v.regex(/^[!-~]{1,128}$/, 'must be a subject, or * for every owner'))

export const Webhook = v.object({
  id: v.string(),
  url: v.string(),
  events: v.array(v.string()),
  targets: v.optional(v.array(v.string())),
  owner: v.string(),
  source: v.picklist(['code', 'api']),
  enabled: v.boolean(),
  disabledReason: v.optional(v.string()),
  undeclaredAt: v.optional(Timestamp),
  createdByToken: v.optional(v.string()),
  createdAt: Timestamp,
})

export const WebhookWithSecret = v.object({ ...Webhook.entries, secret: v.string() })

export const CreateWebhookRequest = strictObject({
  id: v.optional(OperatorId),
  url: WebhookUrl,
  events: v.optional(WebhookEvents),
  targets: v.optional(WebhookTargets),
  owner: v.optional(WebhookOwner),
})

export const UpdateWebhookRequest = strictObject({
  url: v.optional(WebhookUrl),
  events: v.optional(WebhookEvents),
  targets: v.optional(WebhookTargets),
})

export const RotateWebhookRequest = strictObject({
  graceSeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_GRACE_SECONDS)), DAY_SECONDS),
})

export const DeliveryStatus = v.picklist(['pending', 'delivered', 'dead'])

export const Delivery = v.object({
  id: v.string(),
  webhookId: v.string(),
  type: v.string(),
  status: DeliveryStatus,
  attempts: Count,
  nextAttemptAt: v.optional(Timestamp),
  responseStatus: v.optional(Count),
  error: v.optional(v.string()),
  endedAt: v.optional(Timestamp),
  createdAt: Timestamp,
})
