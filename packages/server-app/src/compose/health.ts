import {
  type Audit,
  type ConsolidatorCheck,
  createReadHealth,
  type EmbedderCheck,
  type EventHub,
  type NodeWatch,
  type PhaseHolder,
  type ReadHealth,
  type TriggerDaemon,
  type TrustedClock,
} from '@perdure/core'
import type { Watchdog } from '@perdure/platform-node'
import type { Cluster, Storage } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { Secrets } from '../start/pre-bind.ts'
import { version } from '../version.ts'

export interface HealthDeps {
  readonly config: ServerConfig
  readonly storage: Pick<Storage, 'status' | 'tail'>
  /** Cipher of the main database; `undefined` if it is not encrypted. */
  readonly cipher: string | undefined
  readonly cluster: Pick<Cluster, 'hasLease' | 'clockSkewMs'>
  readonly clock: TrustedClock
  readonly phase: PhaseHolder
  readonly watchdog: Pick<Watchdog, 'wasBlocked'>
  readonly secrets: Pick<Secrets, 'health'>
  readonly hub: Pick<EventHub, 'stats'>
  readonly audit: Pick<Audit, 'health'>
  readonly triggers: { readonly daemon: Pick<TriggerDaemon, 'health'> }
  readonly memory: { readonly checkEmbedder: () => EmbedderCheck }
  readonly consolidator: { readonly checkConsolidator: () => ConsolidatorCheck }
  readonly nodeWatch: Pick<NodeWatch, 'health'>
}

/** Reads the health of the server from its parts. */
export const createHealth = ({
  config: { health, storage: stored },
  storage,
  cipher,
  cluster: { hasLease, clockSkewMs },
  clock,
  phase,
  watchdog,
  secrets,
  hub,
  audit,
  triggers,
  memory: { checkEmbedder },
  consolidator: { checkConsolidator },
  nodeWatch,
}: HealthDeps): ReadHealth =>
  createReadHealth({
    storage,
    phase,
    clock,
    version,
    replayBuffer: hub.stats,
    walWarnThresholdBytes: health.walWarnThresholdBytes,
    minFreeBytes: stored.minFreeBytes,
    secretsStore: secrets.health.active,
    cipher,
    readAuditHealth: audit.health,
    readTriggerHealth: triggers.daemon.health,
    checkEmbedder,
    checkConsolidator,
    wasBlocked: watchdog.wasBlocked,
    hasLease,
    clockSkewMs,
    distrustedMs: clock.distrustedMs,
    readCluster: nodeWatch.health,
  })
