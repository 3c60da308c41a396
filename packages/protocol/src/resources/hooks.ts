import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { HOOK_DELIVERY_STATUSES } from '../hook-delivery-statuses.ts'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'

export const HookTarget = documented(
  v.object({
    agentId: member(v.optional(v.string()), 'Id of the agent that each delivery starts. Absent otherwise.'),
    workflowId: member(v.optional(v.string()), 'Id of the workflow that each delivery starts. Absent otherwise.'),
    event: member(v.optional(v.string()), 'Name of the event that each delivery emits. Absent otherwise.'),
  }),
  'What a hook does with its deliveries.',
  { agentId: 'triage' },
)

export const Hook = documented(
  v.object({
    id: member(v.string(), 'Id of the hook, as in `webhooks.in`.'),
    path: member(v.string(), 'Path of the address at which it receives requests.'),
    verify: member(v.string(), 'How requests are verified: the name of a platform, `hmac`, `jwt` or `function`.'),
    secrets: member(Count, 'Number of secrets that are tried.'),
    to: member(
      v.optional(HookTarget),
      'What the configuration starts. Absent if only triggers of the kind `webhook` start something.',
    ),
  }),
  'An address at which the server receives signed requests of another service.',
  { id: 'github', path: '/v1/hooks/github', verify: 'github', secrets: 1, to: { agentId: 'triage' } },
)

export const HookDeliveryStatus = v.picklist(HOOK_DELIVERY_STATUSES)
/**
 * `accepted`: what it starts was committed with it. `ignored`: there was nothing to start. `dead`: it could not be
 * handled; it is kept until it is replayed or removed.
 */
export type HookDeliveryStatus = v.InferOutput<typeof HookDeliveryStatus>

const summaryEntries = {
  id: member(v.string(), 'Id of the delivery, `hkd_…`.'),
  hookId: member(v.string(), 'Id of the hook.'),
  deliveryId: member(v.string(), 'Id that the sender gave the delivery, or `sha256:` and the hash of its body.'),
  status: member(
    HookDeliveryStatus,
    '`accepted`: what it starts was committed with it; `ignored`: there was nothing to start; `dead`: it could not be handled and can be replayed.',
  ),
  reason: member(
    v.optional(v.string()),
    'Why it is ignored or dead, or that the body has no key for the second event. Absent otherwise.',
  ),
  event: member(v.optional(v.string()), 'Name of the event that it emitted, with its key. Absent otherwise.'),
  fireIds: member(v.array(v.string()), 'Ids of the fires of triggers of the kind `webhook`.'),
  replays: member(Count, 'How often it was replayed.'),
  receivedAt: member(Timestamp, 'When the server received it.'),
  handledAt: member(Timestamp, 'When it was last handled.'),
}

const summaryExample = {
  id: 'hkd_01KX3FJ9ZQ4V1T8B6M2N5R7W0Y',
  hookId: 'github',
  deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  status: 'accepted',
  fireIds: ['fire_01k5x3v8qk7m2n9b4c6d8f0g1h'],
  replays: 0,
  receivedAt: '2026-01-31T09:00:00.000Z',
  handledAt: '2026-01-31T09:00:00.001Z',
} as const

export const HookDeliverySummary = documented(
  v.object(summaryEntries),
  'A delivery that a hook has received, without its content.',
  { ...summaryExample, fireIds: [...summaryExample.fireIds] },
)

export const HookDelivery = documented(
  v.object({
    ...summaryEntries,
    headers: member(v.record(v.string(), v.string()), 'The stored headers, by their name in lower case.'),
    body: member(v.string(), 'The text of the body.'),
  }),
  'A delivery that a hook has received.',
  {
    ...summaryExample,
    fireIds: [...summaryExample.fireIds],
    headers: { 'content-type': 'application/json', 'x-github-event': 'push' },
    body: '{"ref":"refs/heads/main"}',
  },
)

const HeaderName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9-]{1,128}$/, 'must be the name of a header'))

export const TestHookRequest = documented(
  strictObject({
    body: member(v.optional(v.unknown()), 'Body of the sample. Default: a small object.'),
    headers: member(
      v.optional(v.record(HeaderName, v.pipe(v.string(), v.maxLength(512)))),
      'Further headers of the sample, such as the type of its event. The headers of the signature replace them.',
    ),
  }),
  'Sends a signed sample to a hook.',
  { body: { action: 'opened' }, headers: { 'x-github-event': 'issues' } },
)
