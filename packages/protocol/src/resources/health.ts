import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Count } from './count.ts'
import { ClusterHealth } from './nodes.ts'

export const CheckStatus = documented(
  v.picklist(['ok', 'warn', 'fail', 'disabled']),
  'Result of a health check. `disabled`: the configuration does not use this part of the server.',
  'ok',
)
export type CheckStatus = v.InferOutput<typeof CheckStatus>
const check = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.object({
    status: member(CheckStatus, 'Result of the check.'),
    message: member(v.optional(v.string()), 'Explanation for people. Absent when there is nothing to explain.'),
    ...entries,
  })

export const StorageConnections = documented(
  v.object({
    busy: member(Count, 'Connections that execute a read.'),
    idle: member(Count, 'Open connections that are free.'),
    waiting: member(Count, 'Reads that wait for a connection.'),
  }),
  'Connections of the server to PostgreSQL for reads.',
  { busy: 1, idle: 6, waiting: 0 },
)
const checks = {
  storage: { status: 'ok', walBytes: 411_984, thresholdBytes: 67_108_864, dbBytes: 8_392_704, writable: true },
  embedder: { status: 'disabled' },
  secrets: { status: 'ok', store: 'env' },
  encryption: { status: 'disabled', enabled: false },
  consolidator: { status: 'ok', queueDepth: 0, deadLetters: 0, running: true },
  triggers: { status: 'ok', running: true, active: 3, disabled: 1, nextFireAt: '2026-03-03T08:00:00.000Z' },
  replayBuffer: { status: 'ok', events: 812, subjects: 14, bytes: 190_440 },
} as const

export const StorageCheck = documented(
  check({
    walBytes: member(Count, 'Size of the write-ahead log in bytes.'),
    thresholdBytes: member(Count, 'Size in bytes at which the write-ahead log makes the check warn.'),
    dbBytes: member(Count, 'Size of the database in bytes.'),
    writable: member(v.boolean(), 'Whether the database accepts writes.'),
    connections: member(v.optional(StorageConnections), 'Connections to PostgreSQL. Absent for a database file.'),
  }),
  'Health of the database and of the audit chain.',
  checks.storage,
)
export const EmbedderCheck = documented(
  check({ name: member(v.optional(v.string()), 'Name of the embedder. Absent when none is configured.') }),
  'Health of the embedder that memory search uses.',
  checks.embedder,
)
export const SecretsCheck = documented(
  check({ store: member(v.string(), 'Name of the active store.') }),
  'Health of the secrets store.',
  checks.secrets,
)
export const EncryptionCheck = documented(
  check({
    enabled: member(v.boolean(), 'Whether the database is encrypted.'),
    cipher: member(v.optional(v.string()), 'Name of the cipher. Absent when the database is not encrypted.'),
  }),
  'Encryption of the database.',
  checks.encryption,
)
export const ConsolidatorCheck = documented(
  check({
    queueDepth: member(Count, 'Number of queued jobs.'),
    deadLetters: member(Count, 'Number of jobs that failed for good.'),
    running: member(v.boolean(), 'Whether the consolidator is running.'),
  }),
  'Health of the memory consolidator.',
  checks.consolidator,
)
export const TriggersCheck = documented(
  check({
    running: member(v.boolean(), 'Whether the scheduler is running.'),
    active: member(Count, 'Number of triggers that can fire.'),
    disabled: member(Count, 'Number of disabled triggers.'),
    nextFireAt: member(v.nullable(v.string()), 'When the next trigger fires; null when no fire is scheduled.'),
  }),
  'Health of the trigger scheduler.',
  checks.triggers,
)
export const ReplayBufferCheck = documented(
  check({
    events: member(Count, 'Number of buffered events.'),
    subjects: member(Count, 'Number of subjects with buffered events.'),
    bytes: member(Count, 'Size of the buffer in bytes.'),
  }),
  'Buffer of recent events, from which streams resume without a query.',
  checks.replayBuffer,
)

export const HealthChecks = documented(
  v.object({
    storage: member(StorageCheck, 'The database and the audit chain.'),
    embedder: member(EmbedderCheck, 'The embedder that memory search uses.'),
    secrets: member(SecretsCheck, 'The secrets store.'),
    encryption: member(EncryptionCheck, 'The encryption of the database.'),
    consolidator: member(ConsolidatorCheck, 'The memory consolidator.'),
    triggers: member(TriggersCheck, 'The trigger scheduler.'),
    replayBuffer: member(ReplayBufferCheck, 'The buffer of recent events.'),
  }),
  'The checks that determine the health of the server.',
  checks,
)

export const TailHealth = documented(
  v.object({
    current: member(v.boolean(), 'Whether the server knows every commit that is older than a second.'),
    lagMs: member(Count, 'Milliseconds since the server last read the end of the event log.'),
    listening: member(v.boolean(), 'Whether the server receives notifications of commits; otherwise it polls the log.'),
  }),
  'How quickly this server notices commits of other processes to the same storage.',
  { current: true, lagMs: 120, listening: true },
)

export const ClockHealth = documented(
  v.object({
    skewMs: member(
      v.number(),
      'Milliseconds by which the clock is ahead of that of the database server; negative if it is behind.',
    ),
    distrustedMs: member(
      v.number(),
      'Milliseconds by which the clock is ahead of the time that the server uses; negative if it is behind.',
    ),
  }),
  'The clock of the machine, while the server does not trust it.',
  { skewMs: 90_000_000, distrustedMs: 90_000_000 },
)

export const Health = documented(
  v.object({
    status: member(
      v.picklist(['ok', 'degraded', 'failing']),
      '`failing` when a check fails, `degraded` when a check warns, otherwise `ok`.',
    ),
    version: member(v.string(), 'Version of the server.'),
    uptimeSeconds: member(Count, 'Seconds since the server started.'),
    checks: member(HealthChecks, 'Result of each check.'),
    tail: member(
      v.optional(TailHealth),
      'How quickly this server notices commits of other processes. Present only with PostgreSQL.',
    ),
    nodes: member(v.optional(ClusterHealth), 'The servers that share the storage. Present only with storage.cluster.'),
    clock: member(v.optional(ClockHealth), 'The clock of the machine. Absent while the server trusts it.'),
  }),
  'Health of the server.',
  { status: 'ok', version: '0.1.0', uptimeSeconds: 86_400, checks },
)

export const Liveness = documented(
  v.object({ status: member(v.picklist(['ok']), 'Always `ok`.') }),
  'Whether the process responds.',
  { status: 'ok' },
)
export const Readiness = documented(
  v.object({
    status: member(
      v.picklist(['ready', 'starting', 'draining', 'failing']),
      '`ready`, or why the server accepts no new runs.',
    ),
  }),
  'Whether the server accepts new runs.',
  { status: 'ready' },
)
