import {
  AbortedRuns,
  Agent,
  AgentState,
  ConcurrencyLimit,
  ConcurrencyPolicy,
  Debounce,
  FlowKey,
  RateLimit,
} from '../resources/agents.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'
import { RUN_ID } from './runs.ts'

/** Members of the description of an agent or a workflow. */
export const REGISTRATION_MEMBERS = {
  id: 'Id under which the configuration registers it.',
  description: 'Purpose, as the configuration states it.',
  versions:
    'All versions, the default first; null is the registration without a version. Absent if no version has a name.',
  concurrency: 'Which runs may execute at the same time.',
  onBusy: 'How the server treats a start request while the concurrency policy does not allow another run.',
  rateLimit: 'How many runs may start in a period; further runs are queued. Absent when there is no limit.',
  debounce: 'How start requests with the same key are combined into one run. Absent when they are not combined.',
  onCrash: 'How the server treats a run that was executing when the server crashed.',
  recoveries: 'How often a run may execute again after a crash.',
  retries: 'How often a run executes again after its code has thrown.',
  timeoutMs: 'Time limit of one execution in milliseconds. Absent when there is none.',
  tags: 'Labels from the configuration; empty when there are none.',
  inputSchema:
    'JSON Schema (2020-12) of the input of a run. Absent in lists, when there is no input schema, and when the schema library cannot convert it.',
  outputSchema:
    'JSON Schema (2020-12) of the result of a run. Absent in lists, when there is no output schema, and when the schema library cannot convert it.',
}

const CONCURRENCY_LIMIT = { limit: 3, key: 'function' } as const
const RATE_LIMIT = { limit: 100, periodMs: 60_000 } as const
const DEBOUNCE = { periodMs: 5_000, key: 'function', maxWaitMs: 60_000 } as const
const KEY = 'What groups the runs'

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

export const agentSchemas = {
  ConcurrencyPolicy: namedValue(ConcurrencyPolicy, {
    description:
      'Which runs may execute at the same time: `parallel` for any number, `single` for one per registration, `session` for one per session, or a limit for the runs with the same key.',
    example: 'session',
  }),
  FlowKey: namedValue(FlowKey, {
    description:
      'What groups the runs that share a limit: their session, their end user (`userId`), their owner, or the value of a function in the configuration.',
    example: 'user',
  }),
  ConcurrencyLimit: namedObject(ConcurrencyLimit, {
    description: 'How many runs with the same key may execute at the same time.',
    members: {
      limit: 'Maximum number of runs that execute at the same time, from 1 to 10,000.',
      key: `${KEY} that share the limit. Absent when all runs share it.`,
    },
    example: CONCURRENCY_LIMIT,
  }),
  RateLimit: namedObject(RateLimit, {
    description: 'How many runs with the same key may start in a period. Further runs are queued.',
    members: {
      limit: 'Maximum number of runs that start in any period, from 1 to 10,000.',
      periodMs: 'Length of the period in milliseconds, from 1 to 86,400,000.',
      key: `${KEY} that share the limit. Absent when all runs share it.`,
    },
    example: RATE_LIMIT,
  }),
  Debounce: namedObject(Debounce, {
    description: 'Combines start requests with the same key into one run, which gets the newest input.',
    members: {
      periodMs:
        'The run starts when no request with the same key has arrived for this time. Milliseconds, from 1 to 86,400,000.',
      key: `${KEY} that are combined.`,
      maxWaitMs: 'Maximum delay of the run after its first request, in milliseconds. Absent when there is none.',
    },
    example: DEBOUNCE,
  }),
  Agent: namedObject(Agent, {
    description: 'A registered agent.',
    members: REGISTRATION_MEMBERS,
    example: { ...REGISTRATION, tags: [...REGISTRATION.tags] },
  }),
  AgentState: namedObject(AgentState, {
    description: 'How busy an agent is.',
    members: {
      id: 'Id of the agent.',
      running: 'Number of runs that are executing.',
      queued: 'Number of runs that wait for a slot.',
      concurrency: REGISTRATION_MEMBERS.concurrency,
    },
    example: { id: 'support', running: 2, queued: 0, concurrency: 'session' },
  }),
  AbortedRuns: namedObject(AbortedRuns, {
    description: 'The runs that a request aborted.',
    members: { aborted: 'Ids of the runs; empty when no run was active.' },
    example: { aborted: [RUN_ID] },
  }),
} as const satisfies NamedSchemas
