import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { OperatorId, Timestamp } from '../ids.ts'
import { isPlainObject, strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { RUN_ID } from './example-ids.ts'
import { EmittedEventName } from './named-events.ts'

const MAX_MS = 10 * 366 * 86_400_000
const PositiveMs = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_MS))
const NonNegativeMs = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_MS))
/** One second to ten years. */
const PeriodMs = v.pipe(v.number(), v.integer(), v.minValue(1_000), v.maxValue(MAX_MS))
export const CatchUp = documented(
  v.picklist(['none', 'latest', 'all']),
  'Which missed fires take place after a start: `none`, the `latest`, or `all` up to `maxCatchUp`.',
  'latest',
)
export type CatchUp = v.InferOutput<typeof CatchUp>

export const Overlap = documented(
  v.picklist(['skip', 'queue', 'allow']),
  'How the server treats a fire while the run of the previous fire has not ended: `skip` drops it, `queue` delays it, `allow` starts its run.',
  'skip',
)
export type Overlap = v.InferOutput<typeof Overlap>

const target = { agentId: 'report' }

export const AgentTarget = documented(
  strictObject({
    agentId: member(OperatorId, 'Id of the agent.'),
    input: member(
      v.optional(v.unknown()),
      'Input of each run. Default: `null`; for the kinds `event` and `webhook`, the payload of the event or delivery.',
    ),
    sessionId: member(v.optional(OperatorId), 'Session of each run. Default: no session.'),
  }),
  'Starts an agent.',
  target,
)
export const WorkflowTarget = documented(
  strictObject({
    workflowId: member(OperatorId, 'Id of the workflow.'),
    input: member(
      v.optional(v.unknown()),
      'Input of each run. Default: `null`; for the kinds `event` and `webhook`, the payload of the event or delivery.',
    ),
    sessionId: member(v.optional(OperatorId), 'Session of each run. Default: no session.'),
  }),
  'Starts a workflow.',
  { workflowId: 'ship', input: { order: 7 } },
)
const TARGET_MEMBERS = ['agentId', 'workflowId', 'input', 'sessionId']

/** The validation message names the unknown member, if there is one. */
export const Target = documented(
  v.union([AgentTarget, WorkflowTarget], ({ input }) => {
    const unknown = isPlainObject(input) ? Object.keys(input).find((name) => !TARGET_MEMBERS.includes(name)) : undefined
    if (unknown === undefined) return 'must name an agentId or a workflowId'
    return `has no member ${unknown}: it takes agentId or workflowId, input and sessionId`
  }),
  'What a trigger starts: an agent or a workflow.',
  target,
)

const policyEntries = {
  id: member(OperatorId, 'Id of the trigger: at most 128 letters, digits, `_` or `-`.'),
  target: member(Target, 'What the trigger starts.'),
  enabled: member(v.optional(v.boolean(), true), 'Whether the trigger fires.'),
  catchUp: member(
    v.optional(CatchUp, 'latest'),
    'Which of the fires missed while the server was down take place after its start.',
  ),
  maxCatchUp: member(
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)), 10),
    'Maximum number of missed fires that take place after a start, from 1 to 1,000.',
  ),
  catchUpWindowMs: member(
    v.optional(PositiveMs, 86_400_000),
    'Maximum age of a missed fire in milliseconds; older fires are dropped.',
  ),
  overlap: member(
    v.optional(Overlap, 'skip'),
    'How the server treats a fire while the run of the previous fire has not ended.',
  ),
  jitterMs: member(v.optional(NonNegativeMs, 0), 'Maximum random delay of each fire in milliseconds.'),
  expiresAt: member(v.optional(Timestamp), 'When the trigger stops firing. Default: never.'),
}

export const CreateCronTrigger = documented(
  strictObject({
    kind: member(v.literal('cron'), 'Always `cron`.'),
    cron: member(v.pipe(v.string(), v.minLength(1)), 'Cron expression with five fields, or six with seconds first.'),
    timezone: member(v.optional(v.string(), 'UTC'), 'IANA time zone of the cron expression.'),
    ...policyEntries,
  }),
  'A trigger that fires at the times of a cron expression.',
  { id: 'weekdays', kind: 'cron', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', target },
)
export const CreateIntervalTrigger = documented(
  strictObject({
    kind: member(v.literal('interval'), 'Always `interval`.'),
    intervalMs: member(PeriodMs, 'Milliseconds between two fires, from 1,000 to ten years.'),
    ...policyEntries,
  }),
  'A trigger that fires at a fixed interval.',
  { id: 'beat', kind: 'interval', intervalMs: 60_000, target },
)
export const CreateIdleTrigger = documented(
  strictObject({
    kind: member(v.literal('idle'), 'Always `idle`.'),
    idleMs: member(PeriodMs, 'Milliseconds after the last run ended, from 1,000 to ten years.'),
    ...policyEntries,
  }),
  'A trigger that fires once per quiet period of its session or of the server.',
  { id: 'quiet', kind: 'idle', idleMs: 600_000, target },
)
export const CreateEventTrigger = documented(
  strictObject({
    kind: member(v.literal('event'), 'Always `event`.'),
    event: member(EmittedEventName, 'Name of the event, such as `order.paid`.'),
    ...policyEntries,
  }),
  'A trigger that fires whenever an event is emitted.',
  { id: 'paid', kind: 'event', event: 'order.paid', overlap: 'allow', target },
)

export const CreateWebhookTrigger = documented(
  strictObject({
    kind: member(v.literal('webhook'), 'Always `webhook`.'),
    hook: member(OperatorId, 'Id of the hook, as in `webhooks.in` of the configuration.'),
    ...policyEntries,
  }),
  'A trigger that fires for each delivery that a hook receives.',
  { id: 'pushes', kind: 'webhook', hook: 'github', overlap: 'allow', target },
)

export const CreateTriggerRequest = documented(
  v.variant('kind', [
    CreateCronTrigger,
    CreateIntervalTrigger,
    CreateIdleTrigger,
    CreateEventTrigger,
    CreateWebhookTrigger,
  ]),
  'Creates a trigger. `kind` decides which other members are allowed.',
  { id: 'weekdays', kind: 'cron', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', target },
)

/** The kinds of triggers: the variants of `CreateTriggerRequest`. */
const TRIGGER_KINDS = CreateTriggerRequest.options.map(({ entries }) => entries.kind.literal)

export type TriggerKind = (typeof TRIGGER_KINDS)[number]

export const FireStatus = documented(
  v.picklist(['pending', 'started', 'completed', 'failed', 'skipped', 'missed']),
  'Status of a fire. `completed` means that its run has ended, whatever the outcome.',
  'started',
)

/**
 * `pending`: decided, but the run is not started yet. `started`: the run exists. `completed`, `failed`: how the run
 * ended; a run that could not be started is also `failed`. `skipped`: not started because of a policy. `missed`: the
 * server did not fire it in time and does not catch up.
 */
export type FireStatus = v.InferOutput<typeof FireStatus>

export const Trigger = documented(
  v.object({
    id: member(v.string(), 'Id of the trigger.'),
    kind: member(v.picklist(TRIGGER_KINDS), 'Kind of the condition on which the trigger fires.'),
    cron: member(
      v.optional(v.string()),
      'Cron expression with five fields, or six with seconds first. Present only when `kind` is `cron`.',
    ),
    timezone: member(
      v.optional(v.string()),
      'IANA time zone of the cron expression. Present only when `kind` is `cron`.',
    ),
    intervalMs: member(v.optional(Count), 'Milliseconds between two fires. Present only when `kind` is `interval`.'),
    idleMs: member(v.optional(Count), 'Milliseconds after the last run ended. Present only when `kind` is `idle`.'),
    event: member(v.optional(v.string()), 'Name of the event. Present only when `kind` is `event`.'),
    hook: member(v.optional(v.string()), 'Id of the hook. Present only when `kind` is `webhook`.'),
    target: member(Target, 'What the trigger starts.'),
    enabled: member(v.boolean(), 'Whether the trigger fires.'),
    catchUp: member(CatchUp, 'Which of the fires missed while the server was down take place after its start.'),
    maxCatchUp: member(Count, 'Maximum number of missed fires that take place after a start, from 1 to 1,000.'),
    catchUpWindowMs: member(Count, 'Maximum age of a missed fire in milliseconds; older fires are dropped.'),
    overlap: member(Overlap, 'How the server treats a fire while the run of the previous fire has not ended.'),
    jitterMs: member(Count, 'Maximum random delay of each fire in milliseconds.'),
    expiresAt: member(v.optional(Timestamp), 'When the trigger stops firing. Absent when it never expires.'),
    status: member(
      v.picklist(['active', 'disabled', 'expired', 'orphaned', 'failing']),
      'Whether the trigger can fire, and if not, why.',
    ),
    reason: member(v.optional(v.string()), 'Why the status is `failing`. Absent otherwise.'),
    source: member(v.picklist(['code', 'api']), 'Whether the configuration or a request created the trigger.'),
    undeclaredAt: member(
      v.optional(Timestamp),
      'Since when no running server declares this trigger of the code. It fires until `retention.undeclaredSeconds` have passed. Absent while one declares it.',
    ),
    lastFireAt: member(v.nullable(Timestamp), 'When the trigger last fired; null when it never has.'),
    nextFireAt: member(v.nullable(Timestamp), 'When the trigger fires next; null when no fire is scheduled.'),
    lastStatus: member(v.nullable(FireStatus), 'Status of the last fire; null when there is none.'),
    fireCount: member(Count, 'Number of fires so far.'),
    missed: member(Count, 'Number of missed fires that were dropped.'),
    createdAt: member(Timestamp, 'When the trigger was created.'),
  }),
  'A rule that starts runs automatically.',
  {
    id: 'weekdays',
    kind: 'cron',
    cron: '0 9 * * MON-FRI',
    timezone: 'Europe/Berlin',
    target,
    enabled: true,
    catchUp: 'latest',
    maxCatchUp: 10,
    catchUpWindowMs: 86_400_000,
    overlap: 'skip',
    jitterMs: 0,
    status: 'active',
    source: 'api',
    lastFireAt: '2026-03-02T08:00:00.000Z',
    nextFireAt: '2026-03-03T08:00:00.000Z',
    lastStatus: 'completed',
    fireCount: 12,
    missed: 0,
    createdAt: '2026-02-13T10:00:00.000Z',
  },
)

const FIRE_ID = 'fire_01k5x3v8qk7m2n9b4c6d8f0g1h'

export const Fire = documented(
  v.object({
    id: member(v.string(), 'Id of the fire, `fire_…`.'),
    scheduledAt: member(Timestamp, 'When the fire was due.'),
    firedAt: member(v.nullable(Timestamp), 'When the fire took effect; null while it is pending.'),
    manual: member(v.boolean(), 'Whether a request caused the fire.'),
    status: member(FireStatus, 'Status of the fire.'),
    runId: member(v.optional(v.string()), 'Id of the run. Absent when the fire started none.'),
    reason: member(v.optional(v.string()), 'Why the fire started no run. Absent otherwise.'),
  }),
  'One activation of a trigger.',
  {
    id: FIRE_ID,
    scheduledAt: '2026-03-02T08:00:00.000Z',
    firedAt: '2026-03-02T08:00:00.003Z',
    manual: false,
    status: 'completed',
    runId: RUN_ID,
  },
)

export const UpcomingFire = documented(
  v.object({ at: member(Timestamp, 'When the trigger will fire, before its jitter.') }),
  'A time at which a trigger will fire.',
  { at: '2026-03-03T08:00:00.000Z' },
)
export const UpcomingFires = documented(
  v.object({
    fires: member(
      v.array(UpcomingFire),
      'The times, earliest first. Empty for a trigger that does not follow the clock.',
    ),
  }),
  'The next times at which a trigger will fire.',
  { fires: [{ at: '2026-03-03T08:00:00.000Z' }] },
)

export const FireReceipt = documented(
  v.object({
    fireId: member(v.string(), 'Id of the fire, `fire_…`.'),
    runId: member(v.string(), 'Id of the run that the fire started.'),
  }),
  'The result of firing a trigger manually.',
  { fireId: FIRE_ID, runId: RUN_ID },
)
export const PrunedTriggers = documented(
  v.object({ pruned: member(v.array(v.string()), 'Ids of the triggers; empty when there was nothing to remove.') }),
  'The triggers that a request removed.',
  { pruned: ['old-report'] },
)
