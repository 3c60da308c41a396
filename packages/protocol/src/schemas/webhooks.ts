import type * as v from 'valibot'
import {
  CreateWebhookRequest,
  Delivery,
  RotateWebhookRequest,
  UpdateWebhookRequest,
  Webhook,
  WebhookWithSecret,
} from '../resources/webhooks.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'

const webhook: v.InferOutput<typeof Webhook> = {
  id: 'billing',
  url: 'https://billing.example.com/hooks/perdure',
  events: ['run.completed', 'run.failed'],
  owner: 'billing',
  source: 'api',
  enabled: true,
  createdAt: '2026-01-31T09:00:00.000Z',
}

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

const FILTERS = {
  events: 'Types of events, or patterns such as `run.*` or `*`.',
  targets:
    'Ids of the agents and workflows whose events the webhook receives. Absent if it receives the events of all.',
} as const

const WEBHOOK_MEMBERS = {
  id: 'Id of the webhook.',
  url: 'Address that receives the events.',
  ...FILTERS,
  owner: 'Subject that owns the runs and triggers whose events the webhook receives; `*` for every owner.',
  source: 'Whether the configuration (`code`) or a request (`api`) added it.',
  enabled: 'Whether events are delivered.',
  disabledReason: 'Why the webhook is disabled. Absent while it is enabled.',
  undeclaredAt:
    'Since when no running server declares this webhook of the configuration. It is removed after `retention.undeclaredSeconds`. Absent while one declares it.',
  createdByToken:
    'Token whose rights it uses: the one that created it, or that changed or enabled it last. Absent if there is none.',
  createdAt: 'When it was added.',
} as const

export const webhookSchemas: NamedSchemas = {
  Webhook: namedObject(Webhook, {
    description: 'An endpoint outside the server that receives events.',
    members: WEBHOOK_MEMBERS,
    example: webhook,
  }),
  WebhookWithSecret: namedObject(WebhookWithSecret, {
    description: 'A webhook with its signing secret.',
    members: {
      ...WEBHOOK_MEMBERS,
      secret: 'Secret with which the server signs the deliveries, as Standard Webhooks defines. Shown only once.',
    },
    example: { ...webhook, secret: SECRET },
  }),
  CreateWebhookRequest: namedObject(CreateWebhookRequest, {
    description: 'Adds a webhook.',
    members: {
      id: 'Id of the webhook: at most 128 letters, digits, `_` or `-`. Default: a generated id. Only a token with `webhooks:write` may choose one.',
      url: 'Address that receives the events: `https:` and public, unless its host is in `webhooks.allowHosts`.',
      events: `${FILTERS.events} Default: \`["*"]\`.`,
      targets: FILTERS.targets,
      owner:
        'Subject that owns the runs and triggers whose events the webhook receives; `*` for every owner. Default: the caller. Any other value needs the scope `webhooks:write`.',
    },
    example: { id: webhook.id, url: webhook.url, events: webhook.events },
  }),
  UpdateWebhookRequest: namedObject(UpdateWebhookRequest, {
    description: 'Changes a webhook. Absent members stay as they are.',
    members: { url: WEBHOOK_MEMBERS.url, ...FILTERS },
    example: { events: ['run.*', 'approval.requested'] },
  }),
  RotateWebhookRequest: namedObject(RotateWebhookRequest, {
    description: 'Replaces the secret of a webhook.',
    members: {
      graceSeconds:
        'How long the server also signs with the previous secret, in seconds; at most 30 days. Default: 86400.',
    },
    example: { graceSeconds: 3_600 },
  }),
  Delivery: namedObject(Delivery, {
    description: 'The delivery of one event to one webhook.',
    members: {
      id: 'Id of the delivery, `del_…`.',
      webhookId: 'Id of the webhook.',
      type: 'Type of the event, or `webhook.test`.',
      status:
        '`pending`: the server will send it, or retry; `delivered`: the endpoint accepted it; `dead`: the server gave it up.',
      attempts: 'Number of attempts so far.',
      nextAttemptAt:
        'When the next attempt is due. Absent while an attempt is in progress and after the delivery has ended.',
      responseStatus: 'HTTP status of the response to the last attempt. Absent if there was no response.',
      error: 'Why the last attempt failed. Absent if it has not failed.',
      endedAt: 'When it was delivered or given up. Absent while it is pending.',
      createdAt: 'When the server read the event from the log.',
    },
    example: {
      id: 'del_01KX3FJ9ZQ4V1T8B6M2N5R7W0Y',
      webhookId: 'billing',
      type: 'run.completed',
      status: 'delivered',
      attempts: 1,
      responseStatus: 204,
      endedAt: '2026-01-31T09:00:01.000Z',
      createdAt: '2026-01-31T09:00:00.000Z',
    },
  }),
}
