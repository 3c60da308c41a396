import * as v from 'valibot'
import { Count } from './count.ts'
import { ClusterHealth } from './nodes.ts'

export const CheckStatus = v.picklist(['ok', 'warn', 'fail', 'disabled'])
const check = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.object({ status: CheckStatus, message: v.optional(v.string()), ...entries })

export const StorageConnections = v.object({ busy: Count, idle: Count, waiting: Count })
export const StorageCheck = check({
  walBytes: Count,
  thresholdBytes: Count,
  dbBytes: Count,
  writable: v.boolean(),
  connections: v.optional(StorageConnections),
})
export const EmbedderCheck = check({ name: v.optional(v.string()) })
export const SecretsCheck = check({ store: v.string() })
export const EncryptionCheck = check({ enabled: v.boolean(), cipher: v.optional(v.string()) })
export const ConsolidatorCheck = check({ queueDepth: Count, deadLetters: Count, running: v.boolean() })
export const TriggersCheck = check({
  running: v.boolean(),
  active: Count,
  disabled: Count,
  nextFireAt: v.nullable(v.string()),
})
export const ReplayBufferCheck = check({ events: Count, subjects: Count, bytes: Count })

export const HealthChecks = v.object({
  storage: StorageCheck,
  embedder: EmbedderCheck,
  secrets: SecretsCheck,
  encryption: EncryptionCheck,
  consolidator: ConsolidatorCheck,
  triggers: TriggersCheck,
  replayBuffer: ReplayBufferCheck,
})

/** How closely a process follows what other processes commit to the same storage. */
export const TailHealth = v.object({ current: v.boolean(), lagMs: Count, listening: v.boolean() })

/** How far the clock of the machine is ahead of that of the database server, and of the time that the server uses. */
export const ClockHealth = v.object({ skewMs: v.number(), distrustedMs: v.number() })

/** The health document; `tail` is present only with PostgreSQL, `nodes` only in a cluster, `clock` only while the clock is not trusted. `checks` has exactly these seven members. */
export const Health = v.object({
  status: v.picklist(['ok', 'degraded', 'failing']),
  version: v.string(),
  uptimeSeconds: Count,
  checks: HealthChecks,
  tail: v.optional(TailHealth),
  nodes: v.optional(ClusterHealth),
  clock: v.optional(ClockHealth),
})

export const Liveness = v.object({ status: v.picklist(['ok']) })
export const Readiness = v.object({ status: v.picklist(['ready', 'starting', 'draining', 'failing']) })
