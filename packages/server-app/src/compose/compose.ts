import {
  createAudit,
  createAuth,
  createCommit,
  createConsoleAccess,
  createDeclarationWatch,
  createEmitter,
  createEngine,
  createEventHub,
  createHooks,
  createHotCache,
  createKeyRequest,
  createLateBound,
  createListRuns,
  createLogFollower,
  createLogWatch,
  createPricing,
  createRealtime,
  createRecall,
  createRenderEnvelope,
  createRetention,
  createScoring,
  createTriggers,
  createTrustedClock,
  createWebhooks,
  type Daemon,
  type Engine,
  type FireEventTriggers,
  type Hooks,
  targetsOf,
  withReadCache,
} from '@perdure/core'
import { convertSchema, createHttpApp, type HttpApp } from '@perdure/http'
import { checkJson } from '@perdure/mcp'
import { createAsyncNesting, createIdGenerator, createNodeSealer, type Vitals, yieldTurn } from '@perdure/platform-node'
import { hasRightClock } from '@perdure/ports'
import { createEventStreams } from '@perdure/realtime'
import type { ConsoleDeps, ConsoleParts } from '../console/open-console.ts'
import { createUpgrades } from '../listener/upgrades.ts'
import type { Adapters } from '../start/adapters.ts'
import type { AuditLocation } from '../start/audit-location.ts'
import type { LifecycleParts } from '../start/lifecycle-parts.ts'
import type { Identities } from '../start/open-identities.ts'
import type { Secrets } from '../start/pre-bind.ts'
import { secretReader } from '../start/resolve-references.ts'
import { version } from '../version.ts'
import { reactionsOf } from './foreign-commits.ts'
import { createHealth } from './health.ts'
import { httpConfigOf } from './http-config.ts'
import { logWaitingWork } from './log-waiting-work.ts'
import { createLazyProtocols } from './protocols.ts'
import { createScrape } from './scrape.ts'
import { createServices } from './services.ts'
import { createSockets } from './sockets.ts'
import { unattributedTimers } from './unattributed.ts'
import { useCasesOf } from './use-cases.ts'

export interface Parts
  extends Identities,
    Omit<LifecycleParts, 'triggers' | 'webhookEndpoints' | 'hooks' | 'given' | 'configDir' | 'originOf'> {
  readonly adapters: Adapters
  readonly secrets: Secrets
  readonly receivingHooks?: Hooks
  readonly auditLocation: AuditLocation
  /** Cipher of the main database; `undefined` if it is not encrypted. */
  readonly cipher: string | undefined
  readonly vitals: Vitals
  /** `undefined` if the server does not serve the console. */
  readonly openConsole?: ((deps: Omit<ConsoleDeps, 'originOf' | 'isStorageGiven'>) => ConsoleParts) | undefined
}

export type Composition = ReturnType<typeof compose>

/**
 * Connects the adapters to the use cases, and the use cases to the edges (HTTP and WebSocket). Nothing is opened or
 * started here.
 */
export function compose(parts: Parts) {
  const { config, adapters, secrets, vitals, agents, workflows, phase, receivingHooks: hooksById = new Map() } = parts
  const { outside } = parts.attribution
  const { storage, cluster, digest, logger, meter, tracer, cronSchedule } = adapters
  const { tail } = storage
  const { server, realtime, auth } = config

  // Adapters
  const isRight = () => hasRightClock(cluster)
  const clock = createTrustedClock({ clock: adapters.clock, logger, isRight })
  const { ids = createIdGenerator({ now: clock.now }) } = adapters
  const timers = unattributedTimers(adapters.timers, outside)
  const platform = { clock, timers, ids, digest, logger, meter, tracer, hooks: hooksById }
  const limits = { basePath: server.basePath, idempotencyTtlMs: server.idempotency.ttlSeconds * 1_000 }
  const httpConfig = httpConfigOf(config)
  const { executor, isMine, hasLease } = cluster
  const undeclaredMs = config.retention.undeclaredSeconds * 1_000
  const isStorageShared = config.storage.mode === 'lib' || executor !== undefined
  const hub = createEventHub(createHotCache(clock, realtime.cache))
  const render = createRenderEnvelope({ meter, policy: realtime.sanitizer.policy })
  const [secret = ids.randomBytes(32), ...previousSecrets] = secrets.sealSecrets
  const sealer = createNodeSealer([secret, ...previousSecrets])

  const idempotency = withReadCache(storage.idempotency, meter, () => tail?.state().isCurrent ?? true)
  const deliveriesDue = createEmitter()
  const commit = createCommit({
    ...{ unitOfWork: storage.unitOfWork, outside, clock, meter, hub, answers: idempotency },
    hasTail: tail !== undefined,
    onDeliveriesDue: deliveriesDue.emit,
  })
  const audit = createAudit({
    ...platform,
    ...parts.auditLocation,
    main: { unitOfWork: commit, audit: storage.audit },
    keys: secrets.auditKeys,
    events: config.audit.events,
    retentionDays: config.audit.retentionDays,
    nodes: storage.nodes,
    executor,
    undeclaredMs,
  })
  const stores = { ...storage, unitOfWork: audit.unitOfWork }
  const settleKeys = createLateBound<Engine['settleKeys']>('settleKeys')
  const recall = createRecall({ idempotency, clock, sealer, settleKeys: settleKeys.call })
  const answers = { recall, answerCache: idempotency }

  // Use cases
  const resolveSecret = secretReader(adapters)
  const targets = targetsOf(agents, workflows)
  const running = { hub, render, phase, executor, isMine, targets, undeclaredMs }
  const domain = { ...platform, yieldTurn, ...stores, ...limits, ...running }
  const services = createServices({
    ...domain,
    ...answers,
    config,
    outside,
    ...{ blobs: adapters.blobs, remoteFiles: adapters.remoteFiles, mcp: adapters.mcp },
    mcpServers: parts.mcpServers,
    boundServers: storage.mcpServers,
    ...{ skills: adapters.skills, registeredSkills: parts.registeredSkills },
    ...{ embedder: parts.embedder, phases: parts.consolidator },
  })
  const scoring = createScoring(domain)
  parts.scoring?.bind(scoring.ofAgents)
  const fireEventTriggers = createLateBound<FireEventTriggers>('fireEventTriggers')
  const engine = createEngine({
    ...domain,
    ...answers,
    agents,
    workflows,
    ...{ services: services.forRuns, resultFiles: services.resultFiles },
    nesting: createAsyncNesting(),
    cluster,
    isStorageShared,
    pricing: createPricing({ prices: config.models.prices, priceUsage: parts.priceUsage, logger }),
    limits: { ...config.runs, idempotencyTtlMs: limits.idempotencyTtlMs },
    captureLogs: config.runs.captureLogs === 'ctx',
    onDivergence: config.workflows.onDivergence,
    ...{ recordContent: config.tracing.recordContent, createSessionOnInvoke: config.sessions.createOnInvoke },
    ...{ convertSchema, checkJson, fireEventTriggers: fireEventTriggers.call, scoreWrites: scoring.scoreWrites },
  })
  settleKeys.bind(engine.settleKeys)
  const triggers = createTriggers({
    ...domain,
    cronSchedule,
    startRun: engine.startRun,
    createSessionOnInvoke: config.sessions.createOnInvoke,
  })
  engine.observeRuns(triggers.observe)
  fireEventTriggers.bind(triggers.fireEventTriggers)
  const webhooks = createWebhooks({
    ...domain,
    deliveriesDue,
    ...config.webhooks,
    sealer,
    isSealerDurable: secrets.sealSecrets.length > 0,
    isStorageShared,
    sender: adapters.webhookSender,
    resolveSecret,
    version,
  })
  const hooks = createHooks({ ...domain, ...triggers, resolveSecret, planEvent: engine.planEvent })
  const useCases = services.forEdges({ abortRun: engine.abortRun, targets })
  const { memory, consolidator, nodeWatch } = services
  const gate = createAuth({
    ...domain,
    ...{ kind: auth.kind, blockValid: auth.lockout.blockValid, peppers: secrets.peppers, sealer },
    ...{ lockoutStore: adapters.lockouts, jwtIssuers: parts.jwtIssuers ?? [] },
    isRegistered: (kind, id) => targets.find(kind, id) !== undefined,
  })
  const retention = createRetention({ ...domain, limits: config.retention, hooksDays: config.webhooks.inKeepDays })
  const readHealth = createHealth({
    ...{ config, storage, cipher: parts.cipher, cluster, clock, phase, watchdog: adapters.watchdog, secrets },
    ...{ hub, audit, triggers, memory, consolidator, nodeWatch },
  })

  // Edges
  const { admit, onAnswer } = audit
  const { authenticate, watchCredential, checkCredentials, attempts, lockoutDaemon, issueToken } = gate
  const { issueTicket, ...live } = createRealtime({
    ...domain,
    ...realtime,
    sealer,
    attempts,
    ticketStore: adapters.tickets,
    areTicketsShared: executor !== undefined,
  })
  const streams = createEventStreams({
    ...domain,
    ...live,
    watchCredential,
    maxStreams: realtime.maxSseStreams,
    maxStreamsPerToken: realtime.maxSseStreamsPerToken,
    heartbeatMs: realtime.sseHeartbeatMs,
    projectedHeartbeatMs: config.protocols.heartbeatMs,
    stallMs: realtime.stallMs,
  })
  const fetch = createLateBound<HttpApp['fetch']>('fetch')
  const webSockets = createSockets({
    ...domain,
    ...live,
    ...{ version, authenticate, watchCredential, admit, onAnswer },
    abortRun: engine.abortRun,
    fetch: fetch.call,
    bodyLimitBytes: httpConfig.protocolBodyLimitBytes,
    ...{ limits: realtime.webSocket, stallMs: realtime.stallMs },
    isReady: () => phase.current() === 'ready',
  })
  const consoleAccess = createConsoleAccess({
    ...{ ...domain, ...realtime, authenticate, attempts, sealer },
    ...{ peppers: secrets.peppers, provider: parts.signInProvider, rules: config.console.oidc },
    ticketStore: adapters.tickets,
    areTicketsShared: executor !== undefined,
  })
  const { readMetrics, readSeries } = createScrape({
    ...{ meter, clock, vitals, storage, engine, streams, webSockets, hub, consolidator, nodeWatch },
    droppedLogLines: adapters.droppedLogLines,
    tokenFreshness: useCases.tokenFreshness,
  })
  const consoleData = parts.openConsole?.({ ...platform, config, cluster, storage, version, readSeries })
  const keyRequest = createKeyRequest({ idempotency, tokens: storage.tokens, clock, digest })
  const registered = () => [...agents.list(), ...workflows.list()]
  const callProtocol = createLazyProtocols({
    ...{ ...domain, ...config.protocols, ...streams, maxResultBytes: config.runs.maxResultBytes },
    startRun: engine.startRun,
    resumeRun: engine.resumeRun,
    resolveApproval: engine.resolveApproval,
    abortRun: engine.abortRun,
    ...{ createSession: useCases.createSession, storeDataUrl: useCases.storeDataUrl },
    ...{ updateSession: useCases.updateSession, deleteSession: useCases.deleteSession },
    ...{ keyRequest, recall, requireKey: server.idempotency.requireKey, version, registered },
    inputSchemaOf: ({ kind, id }) =>
      (kind === 'agent' ? engine.readAgents.get(id) : engine.readWorkflows.get(id)).inputSchema,
  })
  const app = createHttpApp({
    ...useCasesOf({
      ...{ engine, services: useCases, gate, triggers, webhooks, hooks, audit, streams, issueTicket },
      ...consoleAccess,
      listRuns: createListRuns({ ...domain, idempotency, readRuns: engine.readRuns, registered }),
      ...{ callProtocol, readHealth, readMetrics, readSecretsHealth: () => secrets.health },
    }),
    config: httpConfig,
    ...{ version, clock, ids, logger, meter, tracer, hasLease, keyRequest, recall, digest, yieldTurn },
    ...{ authenticate, watchCredential, csrfTokens: gate.csrfTokens, cookieTags: gate.cookieTags },
    ...{ admit, onAnswer, consoleData },
    readDocsPage: async () => (await import('@perdure/console')).docsPage(),
  })
  fetch.bind(app.fetch)
  const onUpgrade = createUpgrades({ app, webSockets, logger })

  // Without a tail, another process on the storage is noticed by looking for events that were not published.
  tail?.follow(createLogFollower({ hub, answers: idempotency, ...reactionsOf({ engine, triggers, checkCredentials }) }))
  const logWatch = tail === undefined ? [createLogWatch(domain)] : []
  logWaitingWork(config, logger)
  const daemons: readonly Daemon[] = [
    ...(config.triggers.enabled ? [triggers.daemon] : []),
    ...(config.webhooks.enabled ? [webhooks.daemon] : []),
    ...services.daemons,
    createDeclarationWatch({ ...domain, redeclare: [triggers.redeclare, webhooks.redeclare] }),
    retention,
    ...logWatch,
    ...(lockoutDaemon === undefined ? [] : [lockoutDaemon]),
    ...(consoleData === undefined ? [] : [consoleData.daemon]),
  ]
  const groups = { engine, triggers, webhooks, consolidator, audit, daemons }
  return { clock, app, issueToken, onUpgrade, streams, webSockets, ...groups }
}
