import {
  type AgentRegistry,
  type ConfiguredMcpServer,
  createAudit,
  createAuth,
  createEngine,
  createEventHub,
  createHotCache,
  createKeyRequest,
  createReadHealth,
  createRealtime,
  createRecall,
  createRenderEnvelope,
  createRetention,
  createTriggers,
  type Daemon,
  type PhaseHolder,
  targetsOf,
  type WorkflowRegistry,
  withPublication,
  withReadCache,
} from '@perdure/core'
import { createHttpApp } from '@perdure/http'
import { createAsyncNesting, createNodeSealer, type Vitals } from '@perdure/platform-node'
import type { ConsolidatorPhases, Embedder, SkillStore, Timers, UnitOfWork } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { createEventStreams, createWebSockets } from '@perdure/realtime'
import type { Adapters } from './adapters.ts'
import type { Attribution } from './attribution.ts'
import type { AuditPlace } from './audit-place.ts'
import { withCommitTiming } from './commit-timing.ts'
import { httpConfigOf } from './http-config.ts'
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
  readonly embedder: Embedder | undefined
  readonly consolidator: Partial<ConsolidatorPhases>
  readonly phase: PhaseHolder
  readonly registeredSkills: SkillStore
  readonly mcpServers: readonly ConfiguredMcpServer[]
}

export type Composition = ReturnType<typeof compose>

/** The one place where adapters meet the domain. Reads top to bottom: adapters, use cases, edges. */
export function compose(parts: Parts) {
  const { config, adapters, secrets, vitals, agents, workflows, attribution, phase } = parts
  const { server, runs: limits, realtime, health, auth } = config
  const { storage, clock, ids, digest, logger, meter, tracer, cronSchedule } = adapters
  const { basePath } = server
  const idempotencyTtlMs = server.idempotency.ttlSeconds * 1_000

  const { outside } = attribution
  const timers: Timers = { after: (delayMs, fn) => outside(() => adapters.timers.after(delayMs, fn)) }
  const committing: UnitOfWork = { commit: (writes) => outside(() => storage.unitOfWork.commit(writes)) }

  const hub = createEventHub(createHotCache(clock, realtime.cache))
  const render = createRenderEnvelope({ meter, policy: realtime.sanitizer.policy })
  const idempotency = withReadCache(storage.idempotency, meter)
  const published = withPublication(withCommitTiming(committing, { clock, meter }), hub, idempotency)
  const audit = createAudit({
    ...{ clock, timers, ids, digest, logger, ...parts.auditPlace },
    main: { unitOfWork: published, audit: storage.audit },
    keys: secrets.auditKeys,
    events: config.audit.events,
    retentionDays: config.audit.retentionDays,
  })
  const { unitOfWork, admit, onAnswer, listAudit, exportAudit, verifyAudit } = audit
  const [secret = ids.randomBytes(32), ...earlier] = secrets.peppers
  const sealer = createNodeSealer([secret, ...earlier])
  const recall = createRecall({ idempotency, clock, sealer })
  const keyRequest = createKeyRequest({ idempotency, clock, digest })
  const limited = { basePath, idempotencyTtlMs }
  const seen = { logger, meter, tracer }
  const answering = { recall, knownAnswers: idempotency }
  const tools = { ...storage, unitOfWork, clock, timers, ids, digest, ...seen, hub, render, phase, ...limited }
  const services = createServices({
    ...{ ...tools, ...answering, config, outside },
    ...{ mcp: adapters.mcp, mcpServers: parts.mcpServers },
    ...{ skills: adapters.skills, registeredSkills: parts.registeredSkills, boundServers: storage.mcpServers },
    ...{ embedder: parts.embedder, phases: parts.consolidator },
  })
  const engine = createEngine({
    ...{ ...tools, ...answering, agents, workflows, services: services.forRuns, nesting: createAsyncNesting() },
    fireEventTriggers: (event) => triggers.fireEventTriggers(event),
    limits: { ...limits, idempotencyTtlMs },
  })
  const triggers = createTriggers({
    ...{ ...tools, cronSchedule, targets: targetsOf(agents, workflows), startRun: engine.startRun },
  })
  engine.observeRuns(triggers.observe)
  const { tokenFreshness, ...useCases } = services.forEdges(engine)
  const { consolidator } = services
  const readHealth = createReadHealth({
    ...{ storage, phase, clock, version, replayBuffer: hub.stats },
    walWarnThresholdBytes: health.walWarnThresholdBytes,
    minFreeBytes: config.storage.minFreeBytes,
    secretsStore: secrets.health.active,
    cipher: parts.cipher,
    readAuditHealth: audit.health,
    readTriggerHealth: triggers.daemon.health,
    ...{ checkEmbedder: services.memory.checkEmbedder, checkConsolidator: consolidator.checkConsolidator },
  })
  const gate = createAuth({
    ...{ ...tools, kind: auth.kind, blockValid: auth.lockout.blockValid, peppers: secrets.peppers, sealer },
  })

  const { authenticate, watchCredential, attempts } = gate
  const { issueTicket, ...live } = createRealtime({ ...tools, ...realtime, sealer, attempts })
  const streams = createEventStreams({
    ...{ ...tools, ...live, watchCredential },
    ...{ maxStreams: realtime.maxSseStreams, heartbeatMs: realtime.sseHeartbeatMs, stallMs: realtime.stallMs },
  })
  const webSockets = createWebSockets({
    ...{ ...tools, ...live, version, authenticate, watchCredential, abortRun: engine.abortRun, admit, onAnswer },
    ...{ limits: realtime.webSocket, stallMs: realtime.stallMs, isReady: () => phase.current() === 'ready' },
  })
  const app = createHttpApp({
    config: httpConfigOf(config),
    ...{ version, clock, ids, ...seen, keyRequest, recall, issueTicket, readHealth },
    ...{ admit, onAnswer, listAudit, exportAudit, verifyAudit },
    openRunStream: streams.openRunStream,
    openSessionStream: streams.openSessionStream,
    openReplayStream: streams.openReplayStream,
    readMetrics: createScrape({
      ...{ meter, clock, vitals, storage, engine, streams, webSockets, hub, tokenFreshness, consolidator },
    }),
    readSecretsHealth: () => secrets.health,
    ...{ ...engine, ...useCases, ...gate, ...triggers },
  })

  const retention = createRetention({ ...tools, limits: config.retention })
  const daemons: readonly Daemon[] = [triggers.daemon, ...services.daemons, retention]
  const onUpgrade = createUpgrades({ app, webSockets, logger })

  return { app, onUpgrade, streams, webSockets, engine, triggers, audit, daemons }
}
