import {
  CheckStatus,
  ClockHealth,
  ConsolidatorCheck,
  EmbedderCheck,
  EncryptionCheck,
  Health,
  HealthChecks,
  Liveness,
  Readiness,
  ReplayBufferCheck,
  SecretsCheck,
  StorageCheck,
  StorageConnections,
  TailHealth,
  TriggersCheck,
} from '../resources/health.ts'
import { SecretReferenceHealth, SecretsHealth } from '../resources/secrets-health.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'

const CHECK_MEMBERS = {
  status: 'Result of the check.',
  message: 'Explanation for people. Absent when there is nothing to explain.',
}

const checks = {
  storage: { status: 'ok', walBytes: 411_984, thresholdBytes: 67_108_864, dbBytes: 8_392_704, writable: true },
  embedder: { status: 'disabled' },
  secrets: { status: 'ok', store: 'env' },
  encryption: { status: 'disabled', enabled: false },
  consolidator: { status: 'ok', queueDepth: 0, deadLetters: 0, running: true },
  triggers: { status: 'ok', running: true, active: 3, disabled: 1, nextFireAt: '2026-03-03T08:00:00.000Z' },
  replayBuffer: { status: 'ok', events: 812, subjects: 14, bytes: 190_440 },
} as const

export const healthSchemas = {
  CheckStatus: namedValue(CheckStatus, {
    description: 'Result of a health check. `disabled`: the configuration does not use this part of the server.',
    example: 'ok',
  }),
  StorageConnections: namedObject(StorageConnections, {
    description: 'Connections of the server to PostgreSQL for reads.',
    members: {
      busy: 'Connections that execute a read.',
      idle: 'Open connections that are free.',
      waiting: 'Reads that wait for a connection.',
    },
    example: { busy: 1, idle: 6, waiting: 0 },
  }),
  StorageCheck: namedObject(StorageCheck, {
    description: 'Health of the database and of the audit chain.',
    members: {
      ...CHECK_MEMBERS,
      walBytes: 'Size of the write-ahead log in bytes.',
      thresholdBytes: 'Size in bytes at which the write-ahead log makes the check warn.',
      dbBytes: 'Size of the database in bytes.',
      writable: 'Whether the database accepts writes.',
      connections: 'Connections to PostgreSQL. Absent for a database file.',
    },
    example: checks.storage,
  }),
  EmbedderCheck: namedObject(EmbedderCheck, {
    description: 'Health of the embedder that memory search uses.',
    members: { ...CHECK_MEMBERS, name: 'Name of the embedder. Absent when none is configured.' },
    example: checks.embedder,
  }),
  SecretsCheck: namedObject(SecretsCheck, {
    description: 'Health of the secrets store.',
    members: { ...CHECK_MEMBERS, store: 'Name of the active store.' },
    example: checks.secrets,
  }),
  EncryptionCheck: namedObject(EncryptionCheck, {
    description: 'Encryption of the database.',
    members: {
      ...CHECK_MEMBERS,
      enabled: 'Whether the database is encrypted.',
      cipher: 'Name of the cipher. Absent when the database is not encrypted.',
    },
    example: checks.encryption,
  }),
  ConsolidatorCheck: namedObject(ConsolidatorCheck, {
    description: 'Health of the memory consolidator.',
    members: {
      ...CHECK_MEMBERS,
      queueDepth: 'Number of queued jobs.',
      deadLetters: 'Number of jobs that failed for good.',
      running: 'Whether the consolidator is running.',
    },
    example: checks.consolidator,
  }),
  TriggersCheck: namedObject(TriggersCheck, {
    description: 'Health of the trigger scheduler.',
    members: {
      ...CHECK_MEMBERS,
      running: 'Whether the scheduler is running.',
      active: 'Number of triggers that can fire.',
      disabled: 'Number of disabled triggers.',
      nextFireAt: 'When the next trigger fires; null when no fire is scheduled.',
    },
    example: checks.triggers,
  }),
  ReplayBufferCheck: namedObject(ReplayBufferCheck, {
    description: 'Buffer of recent events, from which streams resume without a query.',
    members: {
      ...CHECK_MEMBERS,
      events: 'Number of buffered events.',
      subjects: 'Number of subjects with buffered events.',
      bytes: 'Size of the buffer in bytes.',
    },
    example: checks.replayBuffer,
  }),
  HealthChecks: namedObject(HealthChecks, {
    description: 'The checks that determine the health of the server.',
    members: {
      storage: 'The database and the audit chain.',
      embedder: 'The embedder that memory search uses.',
      secrets: 'The secrets store.',
      encryption: 'The encryption of the database.',
      consolidator: 'The memory consolidator.',
      triggers: 'The trigger scheduler.',
      replayBuffer: 'The buffer of recent events.',
    },
    example: checks,
  }),
  ClockHealth: namedObject(ClockHealth, {
    description: 'The clock of the machine, while the server does not trust it.',
    members: {
      skewMs: 'Milliseconds by which the clock is ahead of that of the database server; negative if it is behind.',
      distrustedMs:
        'Milliseconds by which the clock is ahead of the time that the server uses; negative if it is behind.',
    },
    example: { skewMs: 90_000_000, distrustedMs: 90_000_000 },
  }),
  TailHealth: namedObject(TailHealth, {
    description: 'How quickly this server notices commits of other processes to the same storage.',
    members: {
      current: 'Whether the server knows every commit that is older than a second.',
      lagMs: 'Milliseconds since the server last read the end of the event log.',
      listening: 'Whether the server receives notifications of commits; otherwise it polls the log.',
    },
    example: { current: true, lagMs: 120, listening: true },
  }),
  Health: namedObject(Health, {
    description: 'Health of the server.',
    members: {
      status: '`failing` when a check fails, `degraded` when a check warns, otherwise `ok`.',
      version: 'Version of the server.',
      uptimeSeconds: 'Seconds since the server started.',
      checks: 'Result of each check.',
      tail: 'How quickly this server notices commits of other processes. Present only with PostgreSQL.',
      clock: 'The clock of the machine. Absent while the server trusts it.',
      nodes: 'The servers that share the storage. Present only with storage.cluster.',
    },
    example: { status: 'ok', version: '0.1.0', uptimeSeconds: 86_400, checks },
  }),
  Liveness: namedObject(Liveness, {
    description: 'Whether the process responds.',
    members: { status: 'Always `ok`.' },
    example: { status: 'ok' },
  }),
  Readiness: namedObject(Readiness, {
    description: 'Whether the server accepts new runs.',
    members: { status: '`ready`, or why the server accepts no new runs.' },
    example: { status: 'ready' },
  }),
  SecretReferenceHealth: namedObject(SecretReferenceHealth, {
    description: 'A secret reference of the configuration.',
    members: {
      field: 'Path of the configuration field.',
      scheme: 'Scheme of the reference, such as `env`.',
      resolved: 'Whether the reference names a secret that exists.',
    },
    example: { field: 'auth.pepperRef', scheme: 'env', resolved: true },
  }),
  SecretsHealth: namedObject(SecretsHealth, {
    description: 'Health of the secrets stores, without secret values.',
    members: {
      active: 'Name of the active store.',
      fallbackChain: 'Names of the stores that the server tried, in this order.',
      downgradedFrom: 'Store that the configuration prefers. Absent when it is the active store.',
      downgradeReason: 'Why that store is not active. Absent when it is.',
      references: 'Every secret reference of the configuration.',
    },
    example: {
      active: 'env',
      fallbackChain: ['env'],
      references: [{ field: 'auth.pepperRef', scheme: 'env', resolved: true }],
    },
  }),
} as const satisfies NamedSchemas
