import {
  ConfiguredField,
  ConsoleCode,
  ConsoleNode,
  ConsoleSession,
  ConsoleStorage,
  ConsoleSystem,
  ConsoleTarget,
  MetricHistory,
  MetricSeries,
  RemainingToken,
  SignedOut,
  SignInRequest,
} from '../resources/console.ts'
import { type NamedSchemas, namedObject } from './named-schema.ts'

const node = { id: 'n1', name: 'worker-1 1204', startedAt: '2026-03-02T09:00:00.000Z', isThis: true }
const field = { path: 'server.port', value: 8080, origin: 'perdure.config.mjs:3' }
const remaining = { id: 'tok_01k5x3v8qk7m2n9b4c6d8f0g1h', name: 'ci', expiresAt: '2026-06-01T00:00:00.000Z' }
const storage = {
  kind: 'sqlite',
  writable: true,
  dbBytes: 8_392_704,
  walBytes: 411_984,
  freeBytes: 52_428_800_000,
} as const
const series = {
  metric: 'svc_agent_runs_total',
  label: 'completed',
  measure: 'per-minute' as const,
  values: [null, 12, 8],
}

export const consoleSchemas = {
  ConsoleCode: namedObject(ConsoleCode, {
    description: 'A code for one sign-in to the console.',
    members: {
      code: 'The code, for the fragment of the console URL: `#code=<value>`. Valid once.',
      expiresAt: 'When the code expires.',
      ttlMs: 'Milliseconds until the code expires.',
    },
    example: { code: 'Zm9vYmFyYmF6', expiresAt: '2026-03-02T09:20:00.000Z', ttlMs: 300_000 },
  }),
  SignInRequest: namedObject(SignInRequest, {
    description: 'A single-use code or an access token: exactly one of the two.',
    members: { code: 'A code from `POST /console/codes`.', token: 'An access token.' },
    example: { code: 'Zm9vYmFyYmF6' },
  }),
  ConsoleTarget: namedObject(ConsoleTarget, {
    description: 'An agent or workflow that the caller may read.',
    members: { id: 'Id of the agent or workflow.', description: 'Purpose of the agent or workflow.' },
    example: { id: 'support', description: 'Answers questions about orders.' },
  }),
  RemainingToken: namedObject(RemainingToken, {
    description: 'A token that outlives the session of the console that created it.',
    members: {
      id: 'Id of the token.',
      name: 'Name of the token.',
      expiresAt: 'When the token expires. Absent if it never expires.',
    },
    example: remaining,
  }),
  SignedOut: namedObject(SignedOut, {
    description: 'The tokens that outlive a session of the console that has ended.',
    members: { tokens: 'The tokens that it created and that are still valid.' },
    example: { tokens: [remaining] },
  }),
  ConsoleSession: namedObject(ConsoleSession, {
    description: 'The session of a caller in the console.',
    members: {
      subject: 'Owner of the runs and other rows that the session creates.',
      scopes: 'Scopes of the session: those of the token that signed in.',
      env: 'Environment of the token; `null` without a token.',
      expiresAt: 'When the session expires. Absent without a session.',
      readOnly: 'Whether the server refuses every change that the session requests (`console.readOnly`).',
      version: 'Version of the server.',
      agents: 'Registered agents that the caller may read.',
      workflows: 'Registered workflows that the caller may read.',
    },
    example: {
      subject: 'ops',
      scopes: ['runs:read', 'approvals:resolve'],
      env: 'live',
      expiresAt: '2026-03-02T21:00:00.000Z',
      readOnly: false,
      version: '0.1.0',
      agents: [{ id: 'support', description: 'Answers questions about orders.' }],
      workflows: [],
    },
  }),
  ConsoleNode: namedObject(ConsoleNode, {
    description: 'A server that shares the storage.',
    members: {
      id: 'Name of the server in runs.',
      name: 'Host and process of the server.',
      startedAt: 'When the server joined.',
      isThis: 'Whether this server has answered.',
    },
    example: node,
  }),
  ConfiguredField: namedObject(ConfiguredField, {
    description: 'A field of the configuration.',
    members: {
      path: 'Path of the field.',
      value:
        'Effective value. Of a reference to a secret, only the scheme. Absent for an optional field that is not set.',
      origin: 'Where the value is set: a file and line, an environment variable, a flag, or `default`.',
    },
    example: field,
  }),
  ConsoleStorage: namedObject(ConsoleStorage, {
    description: 'The storage of the server.',
    members: {
      kind: 'Type of the storage; `custom` for an adapter that the program has passed in.',
      writable: 'Whether the storage accepts writes.',
      dbBytes: 'Size of the database in bytes.',
      walBytes: 'Size of the write-ahead log in bytes.',
      freeBytes: 'Free space on the disk in bytes. Absent when unknown.',
    },
    example: storage,
  }),
  ConsoleSystem: namedObject(ConsoleSystem, {
    description: 'The server behind the console.',
    members: {
      version: 'Version of the server.',
      startedAt: 'When the server was started.',
      nodes: 'Servers that share the storage, oldest first. Empty if this server has the storage for itself.',
      storage: 'State of the database.',
      configuration: 'Every field of the configuration.',
    },
    example: { version: '0.1.0', startedAt: node.startedAt, nodes: [node], storage, configuration: [field] },
  }),
  MetricSeries: namedObject(MetricSeries, {
    description: 'One metric over time, or one value of its label.',
    members: {
      metric: 'Name of the metric.',
      label: 'Value of the label; empty if the series is the sum over all labels.',
      measure:
        '`per-minute`: increase of a counter per minute. `value`: a gauge. `p95`: 95th percentile of a histogram since the previous sample.',
      values: 'One value per sample; `null` where nothing was measured.',
    },
    example: series,
  }),
  MetricHistory: namedObject(MetricHistory, {
    description: 'The metrics of one server over the last hour.',
    members: {
      intervalMs: 'Milliseconds between two samples.',
      times: 'When each sample was taken, oldest first.',
      series: 'The metrics. A metric that has not been measured is missing.',
    },
    example: {
      intervalMs: 15_000,
      times: ['2026-03-02T09:00:00.000Z', '2026-03-02T09:00:15.000Z', '2026-03-02T09:00:30.000Z'],
      series: [series],
    },
  }),
} as const satisfies NamedSchemas
