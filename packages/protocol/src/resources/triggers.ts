import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { isPlainObject, strictObject } from '../plain-object.ts'
import { EmittedEventName } from './named-events.ts'

const MAX_MS = 10 * 366 * 86_400_000
const PositiveMs = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_MS))
const NonNegativeMs = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_MS))
/** One second to ten years. */
const PeriodMs = v.pipe(v.number(), v.integer(), v.minValue(1_000), v.maxValue(MAX_MS))
const CatchUp = v.picklist(['none', 'latest', 'all'])
const Overlap = v.picklist(['skip', 'queue', 'allow'])

const AgentTarget = strictObject({
  agentId: OperatorId,
  input: v.optional(v.unknown()),
  sessionId: v.optional(OperatorId),
})
const WorkflowTarget = strictObject({
  workflowId: OperatorId,
  input: v.optional(v.unknown()),
  sessionId: v.optional(OperatorId),
})
const TARGET_MEMBERS = ['agentId', 'workflowId', 'input', 'sessionId']

/** The validation message names the unknown member, if there is one. */
const Target = v.union([AgentTarget, WorkflowTarget], ({ input }) => {
  const unknown = isPlainObject(input) ? Object.keys(input).find((name) => !TARGET_MEMBERS.includes(name)) : undefined
  if (unknown === undefined) return 'must name an agentId or a workflowId'
  return `has no member ${unknown}: it takes agentId or workflowId, input and sessionId`
})

const policyEntries = {
  id: OperatorId,
  target: Target,
  enabled: v.optional(v.boolean(), true),
  catchUp: v.optional(CatchUp, 'latest'),
  maxCatchUp: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)), 10),
  catchUpWindowMs: v.optional(PositiveMs, 86_400_000),
  overlap: v.optional(Overlap, 'skip'),
  jitterMs: v.optional(NonNegativeMs, 0),
  expiresAt: v.optional(Timestamp),
}

export const CreateTriggerRequest = v.variant('kind', [
  strictObject({
    kind: v.literal('cron'),
    cron: v.pipe(v.string(), v.minLength(1)),
    timezone: v.optional(v.string(), 'UTC'),
    ...policyEntries,
  }),
  strictObject({ kind: v.literal('interval'), intervalMs: PeriodMs, ...policyEntries }),
  strictObject({ kind: v.literal('idle'), idleMs: PeriodMs, ...policyEntries }),
  strictObject({ kind: v.literal('event'), event: EmittedEventName, ...policyEntries }),
])

/** The kinds of triggers: the variants of `CreateTriggerRequest`. */
const TRIGGER_KINDS = CreateTriggerRequest.options.map(({ entries }) => entries.kind.literal)

export type TriggerKind = (typeof TRIGGER_KINDS)[number]

const FireStatus = v.picklist(['pending', 'started', 'completed', 'failed', 'skipped', 'missed'])

export const Trigger = v.object({
  id: v.string(),
  kind: v.picklist(TRIGGER_KINDS),
  cron: v.optional(v.string()),
  timezone: v.optional(v.string()),
  intervalMs: v.optional(v.number()),
  idleMs: v.optional(v.number()),
  event: v.optional(v.string()),
  target: Target,
  enabled: v.boolean(),
  catchUp: CatchUp,
  maxCatchUp: v.number(),
  catchUpWindowMs: v.number(),
  overlap: Overlap,
  jitterMs: v.number(),
  expiresAt: v.optional(Timestamp),
  status: v.picklist(['active', 'disabled', 'expired', 'orphaned', 'failing']),
  reason: v.optional(v.string()),
  source: v.picklist(['code', 'api']),
  lastFireAt: v.nullable(Timestamp),
  nextFireAt: v.nullable(Timestamp),
  lastStatus: v.nullable(FireStatus),
  fireCount: v.number(),
  missed: v.number(),
  createdAt: Timestamp,
})

/** One activation of a trigger. */
export const Fire = v.object({
  id: v.string(),
  scheduledAt: Timestamp,
  firedAt: v.nullable(Timestamp),
  manual: v.boolean(),
  status: FireStatus,
  runId: v.optional(v.string()),
  reason: v.optional(v.string()),
})

export const FireReceipt = v.object({ fireId: v.string(), runId: v.string() })
export const PrunedTriggers = v.object({ pruned: v.array(v.string()) })
