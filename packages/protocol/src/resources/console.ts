import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Count } from './count.ts'
import { TokenEnvName } from './tokens.ts'

export const ConsoleCode = documented(
  v.object({
    code: member(v.string(), 'The code, for the fragment of the console URL: `#code=<value>`. Valid once.'),
    expiresAt: member(Timestamp, 'When the code expires.'),
    ttlMs: member(Count, 'Milliseconds until the code expires.'),
  }),
  'A code for one sign-in to the console.',
  { code: 'Zm9vYmFyYmF6', expiresAt: '2026-03-02T09:20:00.000Z', ttlMs: 300_000 },
)

const Credential = v.pipe(v.string(), v.minLength(1), v.maxLength(256))

export const SignInRequest = documented(
  v.pipe(
    strictObject({
      code: member(v.optional(Credential), 'A code from `POST /console/codes`.'),
      token: member(v.optional(Credential), 'An access token.'),
    }),
    v.check(({ code, token }) => (code === undefined) !== (token === undefined), 'must have either code or token'),
  ),
  'A single-use code or an access token: exactly one of the two.',
  { code: 'Zm9vYmFyYmF6' },
)

export const ConsoleTarget = documented(
  v.object({
    id: member(v.string(), 'Id of the agent or workflow.'),
    description: member(v.string(), 'Purpose of the agent or workflow.'),
  }),
  'An agent or workflow that the caller may read.',
  { id: 'support', description: 'Answers questions about orders.' },
)

export const ConsoleSession = documented(
  v.object({
    subject: member(v.string(), 'Owner of the runs and other rows that the session creates.'),
    scopes: member(v.array(v.string()), 'Scopes of the session: those of the token that signed in.'),
    env: member(v.nullable(TokenEnvName), 'Environment of the token; `null` without a token.'),
    expiresAt: member(v.optional(Timestamp), 'When the session expires. Absent without a session.'),
    readOnly: member(
      v.boolean(),
      'Whether the server refuses every change that the session requests (`console.readOnly`).',
    ),
    version: member(v.string(), 'Version of the server.'),
    agents: member(v.array(ConsoleTarget), 'Registered agents that the caller may read.'),
    workflows: member(v.array(ConsoleTarget), 'Registered workflows that the caller may read.'),
  }),
  'The session of a caller in the console.',
  {
    subject: 'ops',
    scopes: ['runs:read', 'approvals:resolve'],
    env: 'live',
    expiresAt: '2026-03-02T21:00:00.000Z',
    readOnly: false,
    version: '0.1.0',
    agents: [{ id: 'support', description: 'Answers questions about orders.' }],
    workflows: [],
  },
)

const remaining = { id: 'tok_01k5x3v8qk7m2n9b4c6d8f0g1h', name: 'ci', expiresAt: '2026-06-01T00:00:00.000Z' }

export const RemainingToken = documented(
  v.object({
    id: member(v.string(), 'Id of the token.'),
    name: member(v.string(), 'Name of the token.'),
    expiresAt: member(v.optional(Timestamp), 'When the token expires. Absent if it never expires.'),
  }),
  'A token that outlives the session of the console that created it.',
  remaining,
)

export const SignedOut = documented(
  v.object({ tokens: member(v.array(RemainingToken), 'The tokens that it created and that are still valid.') }),
  'The tokens that outlive a session of the console that has ended.',
  { tokens: [remaining] },
)

const node = { id: 'n1', name: 'worker-1 1204', startedAt: '2026-03-02T09:00:00.000Z', isThis: true }

export const ConsoleNode = documented(
  v.object({
    id: member(v.string(), 'Name of the server in runs.'),
    name: member(v.string(), 'Host and process of the server.'),
    startedAt: member(Timestamp, 'When the server joined.'),
    isThis: member(v.boolean(), 'Whether this server has answered.'),
  }),
  'A server that shares the storage.',
  node,
)

const field = { path: 'server.port', value: 8080, origin: 'perdure.config.mjs:3' }

export const ConfiguredField = documented(
  v.object({
    path: member(v.string(), 'Path of the field.'),
    value: member(
      v.optional(v.unknown()),
      'Effective value. Of a reference to a secret, only the scheme. Absent for an optional field that is not set.',
    ),
    origin: member(
      v.string(),
      'Where the value is set: a file and line, an environment variable, a flag, or `default`.',
    ),
  }),
  'A field of the configuration.',
  field,
)

const storage = {
  kind: 'sqlite',
  writable: true,
  dbBytes: 8_392_704,
  walBytes: 411_984,
  freeBytes: 52_428_800_000,
} as const

export const ConsoleStorage = documented(
  v.object({
    kind: member(
      v.picklist(['sqlite', 'postgres', 'custom']),
      'Type of the storage; `custom` for an adapter that the program has passed in.',
    ),
    writable: member(v.boolean(), 'Whether the storage accepts writes.'),
    dbBytes: member(Count, 'Size of the database in bytes.'),
    walBytes: member(Count, 'Size of the write-ahead log in bytes.'),
    freeBytes: member(v.optional(Count), 'Free space on the disk in bytes. Absent when unknown.'),
  }),
  'The storage of the server.',
  storage,
)

export const ConsoleSystem = documented(
  v.object({
    version: member(v.string(), 'Version of the server.'),
    startedAt: member(Timestamp, 'When the server was started.'),
    nodes: member(
      v.array(ConsoleNode),
      'Servers that share the storage, oldest first. Empty if this server has the storage for itself.',
    ),
    storage: member(ConsoleStorage, 'State of the database.'),
    configuration: member(v.array(ConfiguredField), 'Every field of the configuration.'),
  }),
  'The server behind the console.',
  { version: '0.1.0', startedAt: node.startedAt, nodes: [node], storage, configuration: [field] },
)

const series = {
  metric: 'svc_agent_runs_total',
  label: 'completed',
  measure: 'per-minute' as const,
  values: [null, 12, 8],
}

export const MetricSeries = documented(
  v.object({
    metric: member(v.string(), 'Name of the metric.'),
    label: member(v.string(), 'Value of the label; empty if the series is the sum over all labels.'),
    measure: member(
      v.picklist(['per-minute', 'value', 'p95']),
      '`per-minute`: increase of a counter per minute. `value`: a gauge. `p95`: 95th percentile of a histogram since the previous sample.',
    ),
    values: member(v.array(v.nullable(v.number())), 'One value per sample; `null` where nothing was measured.'),
  }),
  'One metric over time, or one value of its label.',
  series,
)

export const MetricHistory = documented(
  v.object({
    intervalMs: member(Count, 'Milliseconds between two samples.'),
    times: member(v.array(Timestamp), 'When each sample was taken, oldest first.'),
    series: member(v.array(MetricSeries), 'The metrics. A metric that has not been measured is missing.'),
  }),
  'The metrics of one server over the last hour.',
  {
    intervalMs: 15_000,
    times: ['2026-03-02T09:00:00.000Z', '2026-03-02T09:00:15.000Z', '2026-03-02T09:00:30.000Z'],
    series: [series],
  },
)
