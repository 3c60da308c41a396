import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { isPlainObject, strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { EmittedEventName } from './named-events.ts'

const MAX_MS = 10 * 366 * 86_400_000
const PositiveMs = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_MS))
const NonNegativeMs = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_MS))
/** One second to ten years. */
const PeriodMs = v.pipe(v.number(), v.integer(), v.minValue(1_000), v.maxValue(MAX_MS))
export const CatchUp = v.picklist(['none', 'latest', 'all'])
export const Overlap = v.picklist(['skip', 'queue', 'allow'])

export const AgentTarget = strictObject({
  agentId: OperatorId,
  input: v.optional(v.unknown()),
  sessionId: v.optional(OperatorId),
})
export const WorkflowTarget = strictObject({
  workflowId: OperatorId,
  input: v.optional(v.unknown()),
  sessionId: v.optional(OperatorId),
})
const TARGET_MEMBERS = ['agentId', 'workflowId', 'input', 'sessionId']

/** The validation message names the unknown member, if there is one. */
export const Target = v.union([AgentTarget, WorkflowTarget], ({ input }) => {
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

export const CreateCronTrigger = strictObject({
  kind: v.literal('cron'),
  cron: v.pipe(v.string(), v.minLength(1)),
  timezone: v.optional(v.string(), 'UTC'),
  ...policyEntries,
})
export const CreateIntervalTrigger = strictObject({
  kind: v.literal('interval'),
  intervalMs: PeriodMs,
  ...policyEntries,
})
export const CreateIdleTrigger = strictObject({ kind: v.literal('idle'), idleMs: PeriodMs, ...policyEntries })
export const CreateEventTrigger = strictObject({
  kind: v.literal('event'),
  event: EmittedEventName,
  ...policyEntries,
})

export const CreateTriggerRequest = v.variant('kind', [
  CreateCronTrigger,
  CreateIntervalTrigger,
  CreateIdleTrigger,
  CreateEventTrigger,
])

/** The kinds of triggers: the variants of `CreateTriggerRequest`. */
const TRIGGER_KINDS = CreateTriggerRequest.options.map(({ entries }) => entries.kind.literal)

export type TriggerKind = (typeof TRIGGER_KINDS)[number]

export const FireStatus = v.picklist(['pending', 'started', 'completed', 'failed', 'skipped', 'missed'])

export const Trigger = v.object({
  id: v.string(),
  kind: v.picklist(TRIGGER_KINDS),
  cron: v.optional(v.string()),
  timezone: v.optional(v.string()),
  intervalMs: v.optional(Count),
  idleMs: v.optional(Count),
  event: v.optional(v.string()),
  target: Target,
  enabled: v.boolean(),
  catchUp: CatchUp,
  maxCatchUp: Count,
  catchUpWindowMs: Count,
  overlap: Overlap,
  jitterMs: Count,
  expiresAt: v.optional(Timestamp),
  status: v.picklist(['active', 'disabled', 'expired', 'orphaned', 'failing']),
  reason: v.optional(v.string()),
  source: v.picklist(['code', 'api']),
  undeclaredAt: v.optional(Timestamp),
  lastFireAt: v.nullable(Timestamp),
  nextFireAt: v.nullable(Timestamp),
  lastStatus: v.nullable(FireStatus),
  fireCount: Count,
  missed: Count,
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

/** When a trigger will fire, as far as its rule alone determines it. */
export const UpcomingFire = v.object({ at: Timestamp })
export const UpcomingFires = v.object({ fires: v.array(UpcomingFire) })

export const FireReceipt = v.object({ fireId: v.string(), runId: v.string() })
export const PrunedTriggers = v.object({ pruned: v.array(v.string()) })
