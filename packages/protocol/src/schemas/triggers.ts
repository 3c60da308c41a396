import {
  AgentTarget,
  CatchUp,
  CreateCronTrigger,
  CreateEventTrigger,
  CreateIdleTrigger,
  CreateIntervalTrigger,
  CreateTriggerRequest,
  Fire,
  FireReceipt,
  FireStatus,
  Overlap,
  PrunedTriggers,
  Target,
  Trigger,
  UpcomingFire,
  UpcomingFires,
  WorkflowTarget,
} from '../resources/triggers.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'
import { RUN_ID } from './runs.ts'

const TARGET_MEMBERS = {
  input: 'Input of each run. Default: `null`; for a trigger of the kind `event`, the payload of the event.',
  sessionId: 'Session of each run. Default: no session.',
}

const POLICY_MEMBERS = {
  id: 'Id of the trigger: at most 128 letters, digits, `_` or `-`.',
  target: 'What the trigger starts.',
  enabled: 'Whether the trigger fires.',
  catchUp: 'Which of the fires missed while the server was down take place after its start.',
  maxCatchUp: 'Maximum number of missed fires that take place after a start, from 1 to 1,000.',
  catchUpWindowMs: 'Maximum age of a missed fire in milliseconds; older fires are dropped.',
  overlap: 'How the server treats a fire while the run of the previous fire has not ended.',
  jitterMs: 'Maximum random delay of each fire in milliseconds.',
  expiresAt: 'When the trigger stops firing. Default: never.',
}

const CRON = 'Cron expression with five fields, or six with seconds first.'
const TIMEZONE = 'IANA time zone of the cron expression.'
const FIRE_ID = 'fire_01k5x3v8qk7m2n9b4c6d8f0g1h'
const target = { agentId: 'report' }

export const triggerSchemas = {
  AgentTarget: namedObject(AgentTarget, {
    description: 'Starts an agent.',
    members: { agentId: 'Id of the agent.', ...TARGET_MEMBERS },
    example: target,
  }),
  WorkflowTarget: namedObject(WorkflowTarget, {
    description: 'Starts a workflow.',
    members: { workflowId: 'Id of the workflow.', ...TARGET_MEMBERS },
    example: { workflowId: 'ship', input: { order: 7 } },
  }),
  TriggerTarget: namedValue(Target, {
    description: 'What a trigger starts: an agent or a workflow.',
    example: target,
  }),
  CatchUp: namedValue(CatchUp, {
    description: 'Which missed fires take place after a start: `none`, the `latest`, or `all` up to `maxCatchUp`.',
    example: 'latest',
  }),
  Overlap: namedValue(Overlap, {
    description:
      'How the server treats a fire while the run of the previous fire has not ended: `skip` drops it, `queue` delays it, `allow` starts its run.',
    example: 'skip',
  }),
  FireStatus: namedValue(FireStatus, {
    description: 'Status of a fire. `completed` means that its run has ended, whatever the outcome.',
    example: 'started',
  }),
  CreateCronTrigger: namedObject(CreateCronTrigger, {
    description: 'A trigger that fires at the times of a cron expression.',
    members: { kind: 'Always `cron`.', cron: CRON, timezone: TIMEZONE, ...POLICY_MEMBERS },
    example: { id: 'weekdays', kind: 'cron', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', target },
  }),
  CreateIntervalTrigger: namedObject(CreateIntervalTrigger, {
    description: 'A trigger that fires at a fixed interval.',
    members: {
      kind: 'Always `interval`.',
      intervalMs: 'Milliseconds between two fires, from 1,000 to ten years.',
      ...POLICY_MEMBERS,
    },
    example: { id: 'beat', kind: 'interval', intervalMs: 60_000, target },
  }),
  CreateIdleTrigger: namedObject(CreateIdleTrigger, {
    description: 'A trigger that fires once per quiet period of its session or of the server.',
    members: {
      kind: 'Always `idle`.',
      idleMs: 'Milliseconds after the last run ended, from 1,000 to ten years.',
      ...POLICY_MEMBERS,
    },
    example: { id: 'quiet', kind: 'idle', idleMs: 600_000, target },
  }),
  CreateEventTrigger: namedObject(CreateEventTrigger, {
    description: 'A trigger that fires whenever an event is emitted.',
    members: { kind: 'Always `event`.', event: 'Name of the event, such as `order.paid`.', ...POLICY_MEMBERS },
    example: { id: 'paid', kind: 'event', event: 'order.paid', overlap: 'allow', target },
  }),
  CreateTriggerRequest: namedValue(CreateTriggerRequest, {
    description: 'Creates a trigger. `kind` decides which other members are allowed.',
    example: { id: 'weekdays', kind: 'cron', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', target },
  }),
  Trigger: namedObject(Trigger, {
    description: 'A rule that starts runs automatically.',
    members: {
      ...POLICY_MEMBERS,
      id: 'Id of the trigger.',
      kind: 'Kind of the condition on which the trigger fires.',
      cron: `${CRON} Present only when \`kind\` is \`cron\`.`,
      timezone: `${TIMEZONE} Present only when \`kind\` is \`cron\`.`,
      intervalMs: 'Milliseconds between two fires. Present only when `kind` is `interval`.',
      idleMs: 'Milliseconds after the last run ended. Present only when `kind` is `idle`.',
      event: 'Name of the event. Present only when `kind` is `event`.',
      expiresAt: 'When the trigger stops firing. Absent when it never expires.',
      status: 'Whether the trigger can fire, and if not, why.',
      reason: 'Why the status is `failing`. Absent otherwise.',
      source: 'Whether the configuration or a request created the trigger.',
      undeclaredAt:
        'Since when no running server declares this trigger of the code. It fires until `retention.undeclaredSeconds` have passed. Absent while one declares it.',
      lastFireAt: 'When the trigger last fired; null when it never has.',
      nextFireAt: 'When the trigger fires next; null when no fire is scheduled.',
      lastStatus: 'Status of the last fire; null when there is none.',
      fireCount: 'Number of fires so far.',
      missed: 'Number of missed fires that were dropped.',
      createdAt: 'When the trigger was created.',
    },
    example: {
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
  }),
  Fire: namedObject(Fire, {
    description: 'One activation of a trigger.',
    members: {
      id: 'Id of the fire, `fire_…`.',
      scheduledAt: 'When the fire was due.',
      firedAt: 'When the fire took effect; null while it is pending.',
      manual: 'Whether a request caused the fire.',
      status: 'Status of the fire.',
      runId: 'Id of the run. Absent when the fire started none.',
      reason: 'Why the fire started no run. Absent otherwise.',
    },
    example: {
      id: FIRE_ID,
      scheduledAt: '2026-03-02T08:00:00.000Z',
      firedAt: '2026-03-02T08:00:00.003Z',
      manual: false,
      status: 'completed',
      runId: RUN_ID,
    },
  }),
  UpcomingFire: namedObject(UpcomingFire, {
    description: 'A time at which a trigger will fire.',
    members: { at: 'When the trigger will fire, before its jitter.' },
    example: { at: '2026-03-03T08:00:00.000Z' },
  }),
  UpcomingFires: namedObject(UpcomingFires, {
    description: 'The next times at which a trigger will fire.',
    members: { fires: 'The times, earliest first. Empty for a trigger that does not follow the clock.' },
    example: { fires: [{ at: '2026-03-03T08:00:00.000Z' }] },
  }),
  FireReceipt: namedObject(FireReceipt, {
    description: 'The result of firing a trigger manually.',
    members: { fireId: 'Id of the fire, `fire_…`.', runId: 'Id of the run that the fire started.' },
    example: { fireId: FIRE_ID, runId: RUN_ID },
  }),
  PrunedTriggers: namedObject(PrunedTriggers, {
    description: 'The triggers that a request removed.',
    members: { pruned: 'Ids of the triggers; empty when there was nothing to remove.' },
    example: { pruned: ['old-report'] },
  }),
} as const satisfies NamedSchemas
