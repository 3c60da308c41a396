import {
  type AgentRegistry,
  type ConfiguredMcpServer,
  createAudit,
  createAuth,
  createEngine,
  createEventHub,
  createHotCache,
  createReadHealth,
  createRealtime,
  createRecall,
  createRenderEnvelope,
  createTriggers,
  type Daemon,
  type PhaseHolder,
  targetsOf,
  type WorkflowRegistry,
  withPublication,
  withReadCache,
} from '@berth/core'
import { createHttpApp, type HttpConfig } from '@berth/http'
import { createNodeSealer, type Vitals } from '@berth/platform-node'
import type { SkillStore, Timers, UnitOfWork } from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'
import { createEventStreams, createWebSockets } from '@berth/realtime'
import type { Adapters } from './adapters.ts'
import type { Attribution } from './attribution.ts'
import type { AuditPlace } from './audit-place.ts'
import { withCommitTiming } from './commit-timing.ts'
import type { Secrets } from './pre-bind.ts'
import { createScrape } from './scrape.ts'
import { createServices } from './services.ts'
import { createUpgrades } from './upgrades.ts'
import { version } from './version.ts'

export interface Parts {
  readonly config: ServerConfig
  readonly adapters: Adapters
  readonly secrets: Secrets
  readonly auditPlace: AuditPlace
  /** Of the main database; `undefined` when it is not encrypted. */
  readonly cipher: string | undefined
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
  const { storage, clock, ids, digest, logger, meter, cronSchedule } = adapters
  const { runs, events, tokens } = storage
  const { basePath } = server
  const idempotencyTtlMs = server.idempotency.ttlSeconds * 1_000

  const { outside } = attribution
  const timers: Timers = { after: (delayMs, fn) => outside(() => adapters.timers.after(delayMs, fn)) }
  const committing: UnitOfWork = { commit: (writes) => outside(() => storage.unitOfWork.commit(writes)) }

  const hub = createEventHub(createHotCache(clock, realtime.cache))
  const render = createRenderEnvelope({ meter, policy: realtime.sanitizer.policy })
  const published = withPublication(withCommitTiming(committing, { clock, meter }), hub)
  const audit = createAudit({
    ...{ clock, timers, ids, digest, logger, ...parts.auditPlace },
    main: { unitOfWork: published, audit: storage.audit },
    keys: secrets.auditKeys,
    events: config.audit.events,
    retentionDays: config.audit.retentionDays,
  })
  const { unitOfWork, admit, onAnswer, listAudit, exportAudit, verifyAudit } = audit
  const idempotency = withReadCache(storage.idempotency, meter)
  const [secret = ids.randomBytes(32), ...earlier] = secrets.peppers
  const sealer = createNodeSealer([secret, ...earlier])
  const recall = createRecall({ idempotency, clock, sealer })
  const services = createServices({
    ...{ config, storage, unitOfWork, clock, ids, digest, logger, meter, phase, outside, recall, render, basePath },
    idempotencyTtlMs,
    ...{ mcp: adapters.mcp, mcpServers: parts.mcpServers, answers: idempotency },
    ...{ skills: adapters.skills, registeredSkills: parts.registeredSkills },
  })
  const engine = createEngine({
    ...storage,
    ...{ unitOfWork, clock, timers, ids, logger, meter, render, agents, workflows, phase, basePath },
    services: services.forRuns,
    fireEventTriggers: (event) => triggers.fireEventTriggers(event),
    limits: { ...limits, idempotencyTtlMs },
  })
  const triggers = createTriggers({
    ...storage,
    ...{ unitOfWork, clock, timers, ids, digest, logger, meter, cronSchedule, basePath, idempotencyTtlMs },
    ...{ targets: targetsOf(agents, workflows), startRun: engine.startRun },
  })
  engine.observeRuns(triggers.observe)
  const { tokenFreshness, ...useCases } = services.forEdges(engine)
  const readHealth = createReadHealth({
    ...{ storage, phase, clock, version, replayBuffer: hub.stats },
    walWarnThresholdBytes: health.walWarnThresholdBytes,
    secretsStore: secrets.health.active,
    cipher: parts.cipher,
    readAuditHealth: audit.health,
    readTriggerHealth: triggers.daemon.health,
  })
  const gate = createAuth({
    ...{ kind: auth.kind, blockValid: auth.lockout.blockValid, peppers: secrets.peppers },
    ...{ tokens, unitOfWork, digest, clock, timers, ids, logger, sealer, basePath, idempotencyTtlMs },
  })

  const { issueTicket, ...live } = createRealtime({
    ...{ ...storage, ...realtime, unitOfWork, clock, ids, digest, hub, render, phase, sealer, idempotencyTtlMs },
  })
  const { authenticate, watchCredential } = gate
  const streams = createEventStreams({
    ...{ ...storage, ...live, render, timers, logger, watchCredential },
    ...{ maxStreams: realtime.maxSseStreams, heartbeatMs: realtime.sseHeartbeatMs, stallMs: realtime.stallMs },
  })
  const webSockets = createWebSockets({
    ...{ ...live, runs, events, clock, timers, ids, logger, version, authenticate },
    ...{ limits: realtime.webSocket, stallMs: realtime.stallMs },
    ...{ abortRun: engine.abortRun, watchCredential, isReady: () => phase.current() === 'ready' },
  })
  const app = createHttpApp({
    config: httpConfigOf(config),
    ...{ version, clock, digest, ids, logger, meter },
    ...{ admit, onAnswer, listAudit, exportAudit, verifyAudit },
    recall,
    openRunStream: streams.openRunStream,
    openSessionStream: streams.openSessionStream,
    openReplayStream: streams.openReplayStream,
    readMetrics: createScrape({ meter, clock, vitals, storage, engine, streams, webSockets, hub, tokenFreshness }),
    issueTicket,
    readSecretsHealth: () => secrets.health,
    readHealth,
    ...engine,
    ...useCases,
    ...gate,
    ...triggers,
  })

  const daemons: readonly Daemon[] = [triggers.daemon]
  const onUpgrade = createUpgrades({ app, webSockets, logger })

  return { app, onUpgrade, streams, webSockets, engine, triggers, audit, daemons }
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
