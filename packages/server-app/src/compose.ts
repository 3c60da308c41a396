import {
  type AgentRegistry,
  type ConfiguredMcpServer,
  createAuth,
  createEngine,
  createEventHub,
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
import type { SkillStore, Timers, UnitOfWork } from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'
import { createRunStreams } from '@berth/realtime'
import type { Adapters } from './adapters.ts'
import type { Attribution } from './attribution.ts'
import { withCommitTiming } from './commit-timing.ts'
import type { Secrets } from './pre-bind.ts'
import { createScrape } from './scrape.ts'
import { createServices } from './services.ts'
import { version } from './version.ts'

export interface Parts {
  readonly config: ServerConfig
  readonly adapters: Adapters
  readonly secrets: Secrets
  readonly vitals: Vitals
  readonly agents: AgentRegistry
  readonly workflows: WorkflowRegistry
  readonly attribution: Attribution
  readonly phase: PhaseHolder
  readonly registeredSkills: SkillStore
  readonly mcpServers: readonly ConfiguredMcpServer[]
}

export type Composition = ReturnType<typeof compose>

/** The one place where adapters meet the domain. Reads top to bottom: adapters, use cases, edges. */
export function compose(parts: Parts) {
  const { config, adapters, secrets, vitals, agents, workflows, attribution, phase } = parts
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
  const [secret = ids.randomBytes(32), ...earlier] = secrets.peppers
  const sealer = createNodeSealer([secret, ...earlier])
  const recall = createRecall({ idempotency, clock, sealer })
  const services = createServices({
    ...{
      config,
      storage,
      unitOfWork,
      clock,
      ids,
      digest,
      logger,
      meter,
      phase,
      outside,
      recall,
      basePath,
      idempotencyTtlMs,
    },
    ...{ mcp: adapters.mcp, mcpServers: parts.mcpServers, answers: idempotency },
    ...{ skills: adapters.skills, registeredSkills: parts.registeredSkills },
  })
  const engine = createEngine({
    ...storage,
    ...{ unitOfWork, clock, timers, ids, logger, meter, agents, workflows, phase, basePath },
    services: services.forRuns,
    limits: { ...limits, idempotencyTtlMs },
  })
  const { tokenFreshness, ...useCases } = services.forEdges(engine)
  const readHealth = createReadHealth({
    ...{ storage, phase, clock, version },
    walWarnThresholdBytes: health.walWarnThresholdBytes,
    secretsStore: secrets.health.active,
  })
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
    recall,
    openRunStream: streams.openRunStream,
    openReplayStream: streams.openReplayStream,
    readMetrics: createScrape({ meter, clock, vitals, storage, engine, streams, tokenFreshness }),
    readSecretsHealth: () => secrets.health,
    readHealth,
    ...engine,
    ...useCases,
    ...gate,
  })

  const daemons: readonly Daemon[] = []

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
