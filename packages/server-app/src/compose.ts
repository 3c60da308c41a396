import {
  type AgentRegistry,
  createAuth,
  createConsolidator,
  createEngine,
  createEventHub,
  createMemory,
  createReadHealth,
  createRecall,
  type Daemon,
  type PhaseHolder,
  type WorkflowRegistry,
  withPublication,
  withReadCache,
} from '@berth/core'
import { createHttpApp, type HttpConfig } from '@berth/http'
import { createNodeSealer, type Vitals } from '@berth/platform-node'
import type { ConsolidatorPhases, Embedder, Timers, UnitOfWork } from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'
import { createRunStreams } from '@berth/realtime'
import type { Adapters } from './adapters.ts'
import type { Attribution } from './attribution.ts'
import { withCommitTiming } from './commit-timing.ts'
import type { Secrets } from './pre-bind.ts'
import { createScrape } from './scrape.ts'
import { version } from './version.ts'

export interface Parts {
  readonly config: ServerConfig
  readonly adapters: Adapters
  readonly secrets: Secrets
  readonly vitals: Vitals
  readonly agents: AgentRegistry
  readonly workflows: WorkflowRegistry
  readonly attribution: Attribution
  readonly embedder: Embedder | undefined
  readonly consolidator: Partial<ConsolidatorPhases>
  readonly phase: PhaseHolder
}

export type Composition = ReturnType<typeof compose>

/** The one place where adapters meet the domain. Reads top to bottom: adapters, use cases, edges. */
export function compose(parts: Parts) {
  const { config, adapters, secrets, vitals, agents, workflows, attribution, phase, embedder } = parts
  const { server, runs: limits, realtime, health, auth } = config
  const { storage, clock, ids, digest, logger, meter } = adapters
  const { runs, events, tokens } = storage
  const { basePath } = server
  const idempotencyTtlMs = server.idempotency.ttlSeconds * 1_000

  const { outside } = attribution
  const timers: Timers = { after: (delayMs, fn) => outside(() => adapters.timers.after(delayMs, fn)) }
  const committing: UnitOfWork = { commit: (writes) => outside(() => storage.unitOfWork.commit(writes)) }

  const hub = createEventHub()
  const unitOfWork = withPublication(withCommitTiming(committing, { clock, meter }), hub)
  const idempotency = withReadCache(storage.idempotency, meter)
  const shared = { ...storage, unitOfWork, clock, timers, ids, digest, logger, hub, phase, basePath, idempotencyTtlMs }
  const memory = createMemory({ ...shared, embedder, limits: config.memory })
  const consolidator = createConsolidator({
    ...{ ...shared, decisions: memory.decisions, given: parts.consolidator },
    limits: config.consolidator,
  })
  const engine = createEngine({
    ...{ ...shared, meter, agents, workflows },
    services: (caller) => ({ memory: memory.ofRun(caller) }),
    limits: { ...limits, idempotencyTtlMs },
  })
  const readHealth = createReadHealth({
    ...{ storage, phase, clock, version },
    walWarnThresholdBytes: health.walWarnThresholdBytes,
    secretsStore: secrets.health.active,
    checkEmbedder: memory.checkEmbedder,
    checkConsolidator: consolidator.checkConsolidator,
  })
  const [secret = ids.randomBytes(32), ...earlier] = secrets.peppers
  const sealer = createNodeSealer([secret, ...earlier])
  const gate = createAuth({
    ...{ kind: auth.kind, blockValid: auth.lockout.blockValid, peppers: secrets.peppers },
    ...{ tokens, unitOfWork, digest, clock, timers, ids, logger, sealer, basePath, idempotencyTtlMs },
  })

  const streams = createRunStreams({
    ...{ runs, events, hub, timers, logger, meter },
    maxStreams: realtime.maxSseStreams,
    heartbeatMs: realtime.sseHeartbeatMs,
  })
  const app = createHttpApp({
    config: httpConfigOf(config),
    ...{ version, clock, digest, ids, logger, meter },
    recall: createRecall({ idempotency, clock, sealer }),
    openRunStream: streams.openRunStream,
    openReplayStream: streams.openReplayStream,
    readMetrics: createScrape({ meter, clock, vitals, storage, engine, streams, consolidator }),
    readSecretsHealth: () => secrets.health,
    readHealth,
    ...{ ...engine, ...gate, ...memory, ...consolidator },
  })

  const daemons: readonly Daemon[] = [...memory.daemons, ...consolidator.daemons]

  return { app, streams, engine, daemons }
}

const httpConfigOf = ({ server, auth, docs, metrics }: ServerConfig): HttpConfig => ({
  basePath: server.basePath,
  bodyLimitBytes: server.bodyLimitBytes,
  allowOrigins: server.cors.allowOrigins,
  csrfEnabled: server.csrf.enabled,
  trustProxy: server.trustProxy,
  perIpRequests: server.rateLimit.perIpRequests,
  requireKey: server.idempotency.requireKey,
  authKind: auth.kind,
  host: server.host,
  allowedHosts: server.allowedHosts,
  docsEnabled: docs.enabled,
  metricsEnabled: metrics.enabled,
  metricsRequireAuth: metrics.requireAuth,
})
