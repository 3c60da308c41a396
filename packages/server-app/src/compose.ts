import {
  type AgentRegistry,
  authenticateAnyone,
  createAbortAgent,
  createAbortRun,
  createAdmission,
  createAuthenticate,
  createEventHub,
  createReadAgents,
  createReadHealth,
  createReadRuns,
  createRecall,
  createRunner,
  createSettlements,
  createStartRun,
  type PhaseHolder,
  withPublication,
  withReadCache,
} from '@berth/core'
import { createHttpApp, type HttpConfig } from '@berth/http'
import type { ServerConfig } from '@berth/protocol'
import { createRunStreams } from '@berth/realtime'
import type { Adapters } from './adapters.ts'
import type { Secrets } from './pre-bind.ts'
import { version } from './version.ts'

export interface Parts {
  readonly config: ServerConfig
  readonly adapters: Adapters
  readonly secrets: Secrets
  readonly agents: AgentRegistry
  readonly phase: PhaseHolder
}

export type Composition = ReturnType<typeof compose>

/** The one place where adapters meet the domain. Reads top to bottom: adapters, use cases, edges. */
export function compose({ config, adapters, secrets, agents, phase }: Parts) {
  const { server, runs: limits, realtime, health, auth } = config
  const { storage, clock, timers, ids, digest, logger } = adapters
  const { runs, events, sessions, tokens } = storage
  const { basePath } = server

  const hub = createEventHub()
  const unitOfWork = withPublication(storage.unitOfWork, hub)
  const idempotency = withReadCache(storage.idempotency)
  const settlements = createSettlements()
  const admission = createAdmission({ concurrency: limits.concurrency, maxQueued: limits.maxQueued })
  const shared = {
    ...{ unitOfWork, clock, timers, ids, logger, settlements, basePath, agents, runs, phase },
    idempotencyTtlMs: server.idempotency.ttlSeconds * 1_000,
    maxResultBytes: limits.maxResultBytes,
    maxEventBytes: limits.maxEventBytes,
    abortGraceMs: limits.abortGraceMs,
  }

  const runner = createRunner({ ...shared, admission })
  const abortRun = createAbortRun({ ...shared, runner })
  const abortAgent = createAbortAgent({ ...shared, abortRun })
  const startRun = createStartRun({ ...shared, sessions, runner, abortRun })
  const readRuns = createReadRuns({ runs, events, basePath })
  const readAgents = createReadAgents({ agents, runner })
  const readHealth = createReadHealth({
    ...{ storage, phase, clock, version },
    walWarnThresholdBytes: health.walWarnThresholdBytes,
    secretsStore: secrets.health.active,
  })
  const authenticate =
    auth.kind === 'none'
      ? authenticateAnyone
      : createAuthenticate({ tokens, unitOfWork, digest, clock, logger, peppers: secrets.peppers })

  const streams = createRunStreams({
    ...{ runs, events, hub, timers, logger },
    maxStreams: realtime.maxSseStreams,
    heartbeatMs: realtime.sseHeartbeatMs,
  })
  const app = createHttpApp({
    config: httpConfigOf(config),
    ...{ version, clock, digest, ids, logger, authenticate },
    recall: createRecall({ idempotency, clock }),
    openRunStream: streams.openRunStream,
    readSecretsHealth: () => secrets.health,
    ...{ startRun, abortRun, abortAgent, readRuns, readAgents, readHealth },
  })

  return { app, streams, admission, engine: { ...shared, runner } }
}

const httpConfigOf = ({ server, auth, docs, metrics }: ServerConfig): HttpConfig => ({
  basePath: server.basePath,
  bodyLimitBytes: server.bodyLimitBytes,
  allowOrigins: server.cors.allowOrigins,
  perIpRequests: server.rateLimit.perIpRequests,
  requireKey: server.idempotency.requireKey,
  authKind: auth.kind,
  host: server.host,
  allowedHosts: server.allowedHosts,
  docsEnabled: docs.enabled,
  metricsEnabled: metrics.enabled,
  metricsRequireAuth: metrics.requireAuth,
})
