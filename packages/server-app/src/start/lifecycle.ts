import { openVitals, readDescriptorUse } from '@perdure/platform-node'
import { type Storage, soleNode } from '@perdure/ports'
import type { Composition, Parts } from '../compose/compose.ts'
import { createEntry } from '../embedding/entry.ts'
import { runStartHook } from '../hooks.ts'
import type { Listener } from '../listener/listener.ts'
import type { Listening, PerdureServer, Reachable } from '../perdure-server.ts'
import { createPlatform, openTracer, sharedStoresOf } from './adapters.ts'
import { type AuditLocation, openAuditLocation } from './audit-location.ts'
import { storedRunsOf } from './check-runs.ts'
import { affordableConnections, checkDescriptors, startErrorOf } from './connection-budget.ts'
import { drain } from './drain.ts'
import { startExpirySweep } from './expiry-sweep.ts'
import { interruptEarlierCalls } from './interrupt-earlier-calls.ts'
import type { LifecycleParts } from './lifecycle-parts.ts'
import { logCrashPolicies } from './log-crash-policies.ts'
import { checkMcpSecrets } from './mcp-servers.ts'
import { openBlobs } from './open-blobs.ts'
import { openHooksAndTriggers } from './open-hooks.ts'
import { openIdentities } from './open-identities.ts'
import { openStorage } from './open-storage.ts'
import { type Secrets, validateBeforeBind } from './pre-bind.ts'
import { type StopBudget, startStopBudget, stopLimits, waitAtMost } from './stop-budget.ts'
import { createStorageNotes } from './storage-notes.ts'
import { withUnknownOutcome } from './unknown-outcome.ts'
import { checkWebhookEndpoints } from './webhook-endpoints.ts'

/** Loads the console only if the server serves it. */
async function loadConsole({ config, given, originOf }: LifecycleParts): Promise<Parts['openConsole']> {
  if (!config.console.enabled) return undefined
  const { openConsole } = await import('../console/open-console.ts')
  return (deps) => openConsole({ ...deps, originOf, isStorageGiven: given.storage !== undefined })
}

/** Closes one thing that startup has opened. The most recently opened is closed first. */
type Undo = () => void | Promise<void>

const SHUTDOWN_HOOK_MS = 5_000
const LISTENER_GRACE_MS = 2_000
const FLUSH_MS = 1_000

/** Starts and stops the parts of a server in order. */
export function createLifecycle(parts: LifecycleParts): Omit<PerdureServer, 'agents' | 'workflows'> {
  const { config, phase, hooks, given, configDir, attribution } = parts
  const { drainTimeoutMs } = config.server.shutdown
  const platform = createPlatform(config, configDir, given)
  const { timers, logger, watchdog } = platform
  const limits = stopLimits(drainTimeoutMs)
  const notes = createStorageNotes(logger)
  const entry = createEntry(config.server.basePath)
  const { promise: fatal, resolve: onFatal } = Promise.withResolvers<unknown>()
  let undo: Undo[] = []
  let running: Composition | undefined
  let drained: Promise<void> | undefined
  let starting: Promise<Listener | undefined> | undefined
  let budget: StopBudget | undefined
  let stopped: Promise<void> | undefined
  let isForced = false
  const stopping = new AbortController()
  let hasStarted = false
  // A failure during startup fails the start; a later one is fatal.
  let storageFailure: unknown

  const undoAll = async () => {
    const steps = undo.reverse()
    undo = []
    for (const step of steps) {
      try {
        await step()
      } catch (error) {
        logger.error('failed to close a resource', error)
      }
    }
  }

  const validate = async () => {
    const secrets = await validateBeforeBind(config, platform)
    await checkMcpSecrets(parts.mcpServers, platform)
    await checkWebhookEndpoints(parts.webhookEndpoints, platform.webhookSender, platform)
    const receivingHooks = await openHooksAndTriggers(parts, platform)
    const identities = await openIdentities(config, secrets, platform.jwtVerifier)
    const tracer = given.tracer ?? (await openTracer(config, configDir, logger))
    return { secrets, ...identities, receivingHooks, tracer }
  }

  const open = async (isListening: boolean) => {
    checkDescriptors(readDescriptorUse())
    await runStartHook(hooks, 'beforeStart', entry.embedded)
    const { secrets, tracer, ...opened } = await validate()
    // The tracer is flushed after everything else is closed, because closing also ends spans.
    undo.push(() => waitAtMost(timers, FLUSH_MS, [tracer.flush()]))
    if (given.watchdog === undefined) undo.push(watchdog.close)
    const { storage, cipher } = given.storage === undefined ? await openOwnStorage(secrets) : watchGiven(given.storage)
    // Most code is loaded here, while the storage thread is starting.
    const { compose } = await import('../compose/compose.ts')
    const auditLocation = await openAudit(secrets)
    const vitals = openVitals()
    undo.push(vitals.close)
    if (given.mcp === undefined) undo.push(platform.mcp.close)
    const cluster = given.cluster ?? storage.cluster ?? soleNode
    const blobs = await openBlobs(config, { ...platform, configDir, secrets, given: given.blobs })
    const adapters = { ...platform, ...sharedStoresOf(storage, cluster, given), storage, blobs, tracer, cluster }
    const loaded = { openConsole: await loadConsole(parts), vitals, adapters, auditLocation, cipher }
    const composition = compose({ ...parts, ...opened, secrets, ...loaded })
    undo.push(composition.audit.stop)
    logCrashPolicies([...parts.agents.list(), ...parts.workflows.list()], logger)
    await composition.audit.start()
    const recovered = await composition.engine.recover()
    await storage.unitOfWork.commit([interruptEarlierCalls(adapters.cluster)])
    if (recovered.interrupted + recovered.requeued > 0) logger.warn('runs recovered', { ...recovered })
    await composition.triggers.declare(parts.triggers)
    await composition.webhooks.declare(parts.webhookEndpoints)
    await composition.consolidator.refresh()

    await entry.open({ ...composition, logger, timers, maxHeaders: config.server.maxHeaders })
    undo.push(() => entry.close(listenerGraceMs()))
    const listener = isListening ? await listenFor(composition) : undefined
    running = composition
    watch(composition, storage)
    await composition.engine.start()
    for (const daemon of composition.daemons) daemon.start()
    undo.push(startExpirySweep({ ...adapters, clock: composition.clock, unitOfWork: storage.unitOfWork }))
    if (storageFailure !== undefined) throw storageFailure
    hasStarted = true
    phase.enter('ready')
    await runStartHook(hooks, 'onReady', entry.embedded)
    return listener
  }

  const watch = ({ engine }: Composition, { nodes }: Storage) => {
    nodes?.onDrainRequested(drainOnRequest)
    attribution.onEnter(watchdog.enter)
    const { maxBlockMs } = config.runs
    watchdog.start({ executing: engine.executingRunIds, current: attribution.runId, maxBlockMs, ...limits })
  }

  const onStorageFailure = (error: unknown) => {
    logger.error('the storage failed', error)
    if (hasStarted) onFatal(error)
    else storageFailure ??= error
  }

  /** Saving the content may take a while. Meanwhile no run is accepted. */
  const onFilesLost = (error: unknown) => {
    logger.error('files of the storage were removed or replaced', error)
    phase.enter('draining')
  }

  const watchGiven = (storage: Storage) => ({
    storage: withUnknownOutcome(storage, timers, onStorageFailure),
    cipher: undefined,
  })

  const openOwnStorage = async (secrets: Secrets) => {
    const { storageEncryption: encryption, database } = secrets
    const identity = config.storage.cluster ? await identityOf(secrets) : undefined
    const callbacks = { ...notes.of(config.storage.path), onFilesLost, onFatal: onStorageFailure }
    const { signal } = stopping
    const storage = await openStorage({ config, configDir, encryption, database, identity, signal, ...callbacks })
    undo.push(() => storage.close())
    return { storage, cipher: storage.cipher }
  }

  const identityOf = async (secrets: Secrets) => {
    const { nodeIdentity } = await import('./node-identity.ts')
    return nodeIdentity({ ...parts, ...platform, secrets })
  }

  const openAudit = async (secrets: Secrets): Promise<AuditLocation> => {
    const onFailure = (error: unknown) => logger.error('the audit file failed', error)
    const ownsStorage = given.storage === undefined
    const callbacks = { onFatal: onFailure, onFilesLost, onFilesSaved: onStorageFailure }
    const place = await openAuditLocation({ config, configDir, secrets, ownsStorage, logger, notes, ...callbacks })
    undo.push(async () => place.file?.close())
    return place
  }

  const listenerGraceMs = () => (isForced ? 0 : LISTENER_GRACE_MS)

  const listenFor = async ({ app, onUpgrade }: Composition) => {
    const { listen } = await import('../listener/listener.ts')
    const maxConnections = affordableConnections(config.server.maxConnections, readDescriptorUse(), logger)
    const listener = await listen({ answer: app.answer, onUpgrade, logger }, { ...config.server, maxConnections })
    undo.push(() => listener.close(listenerGraceMs()))
    return listener
  }

  /** Closes what was opened if a later step fails. */
  const startUp = async (isListening: boolean) => {
    try {
      return await open(isListening)
    } catch (failure) {
      const error = notes.explain(startErrorOf([failure, storageFailure], readDescriptorUse))
      isForced = true
      const undoing = startStopBudget(timers, 0)
      await close(undoing)
      undoing.end()
      throw error
    }
  }

  /** The process stays, and answers reads: whoever supervises it decides when it ends. */
  const drainOnRequest = () => {
    if (running === undefined) return
    logger.warn(
      'an operator has drained this server: it hands over its work, and accepts no new runs until it is restarted',
    )
    phase.enter('draining')
    const draining = startStopBudget(timers, drainTimeoutMs)
    drained = drainRunning(running, draining).finally(() => draining.end())
  }

  const shutDown = async (budget: StopBudget) => {
    await starting?.catch(() => undefined)
    if (running !== undefined) await callShutdownHook(budget)
    await close(budget)
    budget.end()
  }

  const callShutdownHook = async ({ closing }: StopBudget) => {
    let hasEnded = false
    const called = (async () => hooks.beforeShutdown?.())()
      .catch((error: unknown) => logger.error('the beforeShutdown hook threw', error))
      .finally(() => {
        hasEnded = true
      })
    await waitAtMost(timers, SHUTDOWN_HOOK_MS, [called, closing])
    if (!hasEnded) logger.warn('the beforeShutdown hook timed out; continuing the shutdown without it')
  }

  const close = async (budget: StopBudget) => {
    phase.enter('draining')
    if (running !== undefined) await drainRunning(running, budget)
    await Promise.race([drained, budget.closing])
    await undoAll()
    phase.enter('stopped')
  }

  const drainRunning = (composition: Composition, { closing }: StopBudget) => {
    running = undefined
    return drain(platform, composition, { runsMs: isForced ? 0 : drainTimeoutMs, closing })
  }

  function start(options: { readonly listen: boolean }): Promise<Reachable>
  function start(): Promise<Listening>
  async function start({ listen = true }: { readonly listen?: boolean } = {}): Promise<Reachable> {
    starting ??= startUp(listen)
    entry.starting(starting)
    const listener = await starting
    const { basePath } = config.server
    if (listener === undefined && listen) throw new TypeError('the server has been started with listen: false')
    return listener === undefined ? { basePath } : { host: listener.host, port: listener.port, basePath }
  }

  return {
    fatal,
    async check() {
      await validate()
    },
    ...storedRunsOf({ ...parts, platform, validate }),
    ...entry.embedded,
    start,
    async stop({ force = false } = {}) {
      watchdog.stopping(force ? limits.forcedStopMs : limits.stopBudgetMs)
      stopping.abort()
      budget ??= startStopBudget(timers, drainTimeoutMs)
      if (force) {
        isForced = true
        budget.force()
      }
      const abandon = () => logger.warn('shutdown timed out; abandoning pending work')
      stopped ??= Promise.race([shutDown(budget), budget.spent.then(abandon)])
      await stopped
    },
    attribute(error) {
      const runId = attribution.runId()
      if (runId === undefined) return false
      logger.error('unhandled error from the code of a run', error, { runId })
      return true
    },
  }
}
