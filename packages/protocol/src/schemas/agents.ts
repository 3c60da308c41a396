import { AbortedRuns, Agent, AgentState, ConcurrencyPolicy } from '../resources/agents.ts'
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
  recovery: 'How the server treats a run that was executing when the server crashed.',
  maxAttempts: 'Maximum number of attempts that start after a crash.',
  timeoutMs: 'Time limit of one execution in milliseconds. Absent when there is none.',
  tags: 'Labels from the configuration; empty when there are none.',
  inputSchema:
    'JSON Schema (2020-12) of the input of a run. Absent in lists, when there is no input schema, and when the schema library cannot convert it.',
  outputSchema:
    'JSON Schema (2020-12) of the result of a run. Absent in lists, when there is no output schema, and when the schema library cannot convert it.',
}

export const REGISTRATION = {
  id: 'support',
  description: 'Answers questions about orders.',
  concurrency: 'session',
  onBusy: 'queue',
  recovery: 'resume',
  maxAttempts: 3,
  timeoutMs: 120_000,
  tags: ['customer'],
} as const

export const agentSchemas = {
  ConcurrencyPolicy: namedValue(ConcurrencyPolicy, {
    description:
      'Which runs may execute at the same time: `parallel` for any number, `single` for one per registration, `session` for one per session.',
    example: 'session',
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
