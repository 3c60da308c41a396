import * as v from 'valibot'
import { documented, member } from '../documented.ts'
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

const webhook = {
  id: 'billing',
  url: 'https://billing.example.com/hooks/perdure',
  events: ['run.completed', 'run.failed'],
  owner: 'billing',
  source: 'api' as const,
  enabled: true,
  createdAt: '2026-01-31T09:00:00.000Z',
}

export const Webhook = documented(
  v.object({
    id: member(v.string(), 'Id of the webhook.'),
    url: member(v.string(), 'Address that receives the events.'),
    events: member(v.array(v.string()), 'Types of events, or patterns such as `run.*` or `*`.'),
    targets: member(
      v.optional(v.array(v.string())),
      'Ids of the agents and workflows whose events the webhook receives. Absent if it receives the events of all.',
    ),
    owner: member(
      v.string(),
      'Subject that owns the runs and triggers whose events the webhook receives; `*` for every owner.',
    ),
    source: member(v.picklist(['code', 'api']), 'Whether the configuration (`code`) or a request (`api`) added it.'),
    enabled: member(v.boolean(), 'Whether events are delivered.'),
    disabledReason: member(v.optional(v.string()), 'Why the webhook is disabled. Absent while it is enabled.'),
    undeclaredAt: member(
      v.optional(Timestamp),
      'Since when no running server declares this webhook of the configuration. It is removed after `retention.undeclaredSeconds`. Absent while one declares it.',
    ),
    createdByToken: member(
      v.optional(v.string()),
      'Token whose rights it uses: the one that created it, or that changed or enabled it last. Absent if there is none.',
    ),
    createdAt: member(Timestamp, 'When it was added.'),
  }),
  'An endpoint outside the server that receives events.',
  webhook,
)

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

export const WebhookWithSecret = documented(
  v.object({
    ...Webhook.entries,
    secret: member(
      v.string(),
      'Secret with which the server signs the deliveries, as Standard Webhooks defines. Shown only once.',
    ),
  }),
  'A webhook with its signing secret.',
  { ...webhook, secret: SECRET },
)

export const CreateWebhookRequest = documented(
  strictObject({
    id: member(
      v.optional(OperatorId),
      'Id of the webhook: at most 128 letters, digits, `_` or `-`. Default: a generated id. Only a token with `webhooks:write` may choose one.',
    ),
    url: member(
      WebhookUrl,
      'Address that receives the events: `https:` and public, unless its host is in `webhooks.allowHosts`.',
    ),
    events: member(v.optional(WebhookEvents), 'Types of events, or patterns such as `run.*` or `*`. Default: `["*"]`.'),
    targets: member(
      v.optional(WebhookTargets),
      'Ids of the agents and workflows whose events the webhook receives. Absent if it receives the events of all.',
    ),
    owner: member(
      v.optional(WebhookOwner),
      'Subject that owns the runs and triggers whose events the webhook receives; `*` for every owner. Default: the caller. Any other value needs the scope `webhooks:write`.',
    ),
  }),
  'Adds a webhook.',
  { id: webhook.id, url: webhook.url, events: webhook.events },
)

export const UpdateWebhookRequest = documented(
  strictObject({
    url: member(v.optional(WebhookUrl), 'Address that receives the events.'),
    events: member(v.optional(WebhookEvents), 'Types of events, or patterns such as `run.*` or `*`.'),
    targets: member(
      v.optional(WebhookTargets),
      'Ids of the agents and workflows whose events the webhook receives. Absent if it receives the events of all.',
    ),
  }),
  'Changes a webhook. Absent members stay as they are.',
  { events: ['run.*', 'approval.requested'] },
)

export const RotateWebhookRequest = documented(
  strictObject({
    graceSeconds: member(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_GRACE_SECONDS)), DAY_SECONDS),
      'How long the server also signs with the previous secret, in seconds; at most 30 days. Default: 86400.',
    ),
  }),
  'Replaces the secret of a webhook.',
  { graceSeconds: 3_600 },
)

export const DeliveryStatus = v.picklist(['pending', 'delivered', 'dead'])
/** `pending`: to be sent, or sent again. `delivered`: accepted by the endpoint. `dead`: given up. */
export type DeliveryStatus = v.InferOutput<typeof DeliveryStatus>

export const Delivery = documented(
  v.object({
    id: member(v.string(), 'Id of the delivery, `del_…`.'),
    webhookId: member(v.string(), 'Id of the webhook.'),
    type: member(v.string(), 'Type of the event, or `webhook.test`.'),
    status: member(
      DeliveryStatus,
      '`pending`: the server will send it, or retry; `delivered`: the endpoint accepted it; `dead`: the server gave it up.',
    ),
    attempts: member(Count, 'Number of attempts so far.'),
    nextAttemptAt: member(
      v.optional(Timestamp),
      'When the next attempt is due. Absent while an attempt is in progress and after the delivery has ended.',
    ),
    responseStatus: member(
      v.optional(Count),
      'HTTP status of the response to the last attempt. Absent if there was no response.',
    ),
    error: member(v.optional(v.string()), 'Why the last attempt failed. Absent if it has not failed.'),
    endedAt: member(v.optional(Timestamp), 'When it was delivered or given up. Absent while it is pending.'),
    createdAt: member(Timestamp, 'When the server read the event from the log.'),
  }),
  'The delivery of one event to one webhook.',
  {
    id: 'del_01KX3FJ9ZQ4V1T8B6M2N5R7W0Y',
    webhookId: 'billing',
    type: 'run.completed',
    status: 'delivered',
    attempts: 1,
    responseStatus: 204,
    endedAt: '2026-01-31T09:00:01.000Z',
    createdAt: '2026-01-31T09:00:00.000Z',
  },
)
