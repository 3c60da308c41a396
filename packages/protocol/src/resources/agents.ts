import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Count } from './count.ts'
import { RUN_ID } from './example-ids.ts'

export const FlowKey = documented(
  v.picklist(['session', 'user', 'owner', 'function']),
  'What groups the runs that share a limit: their session, their end user (`userId`), their owner, or the value of a function in the configuration.',
  'user',
)

const CONCURRENCY_LIMIT = { limit: 3, key: 'function' } as const

export const ConcurrencyLimit = documented(
  v.object({
    limit: member(Count, 'Maximum number of runs that execute at the same time, from 1 to 10,000.'),
    key: member(v.optional(FlowKey), 'What groups the runs that share the limit. Absent when all runs share it.'),
  }),
  'How many runs with the same key may execute at the same time.',
  CONCURRENCY_LIMIT,
)

export const CONCURRENCY_POLICIES = ['parallel', 'single', 'session'] as const
export const ConcurrencyPolicy = documented(
  v.union([v.picklist(CONCURRENCY_POLICIES), ConcurrencyLimit]),
  'Which runs may execute at the same time: `parallel` for any number, `single` for one per registration, `session` for one per session, or a limit for the runs with the same key.',
  'session',
)

const RATE_LIMIT = { limit: 100, periodMs: 60_000 } as const

export const RateLimit = documented(
  v.object({
    limit: member(Count, 'Maximum number of runs that start in any period, from 1 to 10,000.'),
    periodMs: member(Count, 'Length of the period in milliseconds, from 1 to 86,400,000.'),
    key: member(v.optional(FlowKey), 'What groups the runs that share the limit. Absent when all runs share it.'),
  }),
  'How many runs with the same key may start in a period. Further runs are queued.',
  RATE_LIMIT,
)

const DEBOUNCE = { periodMs: 5_000, key: 'function', maxWaitMs: 60_000 } as const

export const Debounce = documented(
  v.object({
    periodMs: member(
      Count,
      'The run starts when no request with the same key has arrived for this time. Milliseconds, from 1 to 86,400,000.',
    ),
    key: member(FlowKey, 'What groups the runs that are combined.'),
    maxWaitMs: member(
      v.optional(Count),
      'Maximum delay of the run after its first request, in milliseconds. Absent when there is none.',
    ),
  }),
  'Combines start requests with the same key into one run, which gets the newest input.',
  DEBOUNCE,
)

export const ON_BUSY = ['reject', 'queue', 'steer', 'interrupt'] as const
export const OnBusy = documented(
  v.picklist(ON_BUSY),
  'The treatment of a start request while the concurrency policy does not allow another run: it is rejected, or its run is queued; `steer` lets the run ahead take the message, `interrupt` aborts the run ahead.',
  'queue',
)

const JsonSchema = v.record(v.string(), v.unknown())

const SCORING = { agentId: 'support-scorers', sample: 0.1, scorers: ['judge'] }

export const Scoring = documented(
  v.object({
    agentId: member(
      v.string(),
      'Id of the agent whose runs judge other runs. The input and the result name the run that they judge.',
    ),
    sample: member(v.number(), 'Share of the runs that are judged, from 0 to 1.'),
    scorers: member(v.array(v.string()), 'Names of the scorers.'),
  }),
  'How a sample of the runs is judged after their end.',
  SCORING,
)

export const REGISTRATION = {
  id: 'support',
  description: 'Answers questions about orders.',
  concurrency: 'session',
  onBusy: 'queue',
  onCrash: 'retry',
  recoveries: 2,
  retries: 0,
  timeoutMs: 120_000,
  tags: ['customer'],
} as const

export const Agent = documented(
  v.object({
    id: member(v.string(), 'Id under which the configuration registers it.'),
    description: member(v.string(), 'Purpose, as the configuration states it.'),
    versions: member(
      v.optional(v.array(v.nullable(v.string()))),
      'All versions, the default first; null is the registration without a version. Absent if no version has a name.',
    ),
    concurrency: member(ConcurrencyPolicy, 'Which runs may execute at the same time.'),
    onBusy: member(
      OnBusy,
      'How the server treats a start request while the concurrency policy does not allow another run.',
    ),
    onBusyChoices: member(
      v.optional(v.array(OnBusy)),
      'What a start request may choose with `onBusy`; the first is the default. Absent when there is no choice.',
    ),
    rateLimit: member(
      v.optional(RateLimit),
      'How many runs may start in a period; further runs are queued. Absent when there is no limit.',
    ),
    debounce: member(
      v.optional(Debounce),
      'How start requests with the same key are combined into one run. Absent when they are not combined.',
    ),
    onCrash: member(
      v.picklist(['retry', 'fail']),
      'How the server treats a run that was executing when the server crashed.',
    ),
    recoveries: member(Count, 'How often a run may execute again after a crash.'),
    retries: member(Count, 'How often a run executes again after its code has thrown.'),
    timeoutMs: member(v.optional(Count), 'Time limit of one execution in milliseconds. Absent when there is none.'),
    tags: member(v.array(v.string()), 'Labels from the configuration; empty when there are none.'),
    scoring: member(
      v.optional(Scoring),
      'How runs are judged after their end. Absent when the configuration has no scorers for them.',
    ),
    inputSchema: member(
      v.optional(JsonSchema),
      'JSON Schema (2020-12) of the input of a run. Absent in lists, when there is no input schema, and when the schema library cannot convert it.',
    ),
    outputSchema: member(
      v.optional(JsonSchema),
      'JSON Schema (2020-12) of the result of a run. Absent in lists, when there is no output schema, and when the schema library cannot convert it.',
    ),
  }),
  'A registered agent.',
  { ...REGISTRATION, tags: [...REGISTRATION.tags] },
)

export const AgentState = documented(
  v.object({
    id: member(v.string(), 'Id of the agent.'),
    running: member(Count, 'Number of runs that are executing.'),
    queued: member(Count, 'Number of runs that wait for a slot.'),
    concurrency: member(ConcurrencyPolicy, 'Which runs may execute at the same time.'),
  }),
  'How busy an agent is.',
  { id: 'support', running: 2, queued: 0, concurrency: 'session' },
)

export const AbortedRuns = documented(
  v.object({ aborted: member(v.array(v.string()), 'Ids of the runs; empty when no run was active.') }),
  'The runs that a request aborted.',
  { aborted: [RUN_ID] },
)
