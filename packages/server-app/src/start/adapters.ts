import { resolve } from 'node:path'
import { createMcpClient } from '@perdure/mcp'
import {
  createCronSchedule,
  createFileSkillStore,
  createHookVerifiers,
  createJwtVerifier,
  createPrometheusMeter,
  createRemoteFiles,
  createWatchdog,
  createWebhookSender,
  nodeDigest,
  noWatchdog,
  openTracer as openOpenTelemetry,
  openServerLog,
  secretResolvers as secretResolversOf,
  systemClock,
  systemTimers,
  unbufferedLog,
  type Watchdog,
} from '@perdure/platform-node'
import {
  type BlobStore,
  type Clock,
  type Cluster,
  type CronSchedule,
  type Digest,
  type HookVerifiers,
  type IdGenerator,
  type JwtVerifier,
  type LockoutStore,
  type Logger,
  type McpClient,
  noTracer,
  type ReadableMeter,
  type RemoteFiles,
  type SecretResolver,
  type SkillStore,
  type Storage,
  soleNode,
  type TicketStore,
  type Timers,
  type Tracer,
  type WebhookSender,
} from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { version } from '../version.ts'
import { resolveSecret } from './resolve-references.ts'

/**
 * Every dependency with side effects. A caller can replace any adapter; the server never closes an adapter that was
 * passed in.
 */
export interface Adapters {
  readonly storage: Storage
  readonly clock: Clock
  readonly timers: Timers
  /** By default, ids follow the trusted clock. */
  readonly ids: IdGenerator | undefined
  readonly digest: Digest
  readonly logger: Logger
  readonly meter: ReadableMeter
  readonly tracer: Tracer
  readonly cronSchedule: CronSchedule
  readonly secretResolvers: readonly SecretResolver[]
  /** Contents of files that are too large for the database. */
  readonly blobs: BlobStore
  readonly skills: SkillStore
  readonly mcp: McpClient
  /** Verifies the JWTs of the issuers in `auth.jwt`. By default, it fetches only the keys that `jwksUrl` names. */
  readonly jwtVerifier: JwtVerifier
  /** Verifies the requests to the hooks in `webhooks.in`. */
  readonly hookVerifiers: HookVerifiers
  /** Sends webhook deliveries. */
  readonly webhookSender: WebhookSender
  readonly remoteFiles: RemoteFiles
  /**
   * WebSocket tickets. By default, they are in the storage if other processes use it too, otherwise in the memory of this
   * process.
   */
  readonly tickets: TicketStore
  /** The processes that share the storage. By default, those that the storage knows. */
  readonly cluster: Cluster
  /**
   * Failed attempts that are counted together with other processes. By default, they are in the storage if other processes
   * use it too; otherwise this process counts alone, in memory.
   */
  readonly lockouts: LockoutStore | undefined
  /** By default, the event loop is watched only if `runs.maxBlockMs` is set. */
  readonly watchdog: Watchdog
  /** Returns how many lines the given logger has dropped, for a metric; by default always 0. */
  readonly droppedLogLines: () => number
}

export type Platform = Omit<Adapters, 'storage' | 'blobs' | 'tracer'>

/** The adapters that do not have to be opened. */
export function createPlatform(config: ServerConfig, configDir: string, given: Partial<Adapters>): Platform {
  const { clock = systemClock, timers = systemTimers } = given
  const { logger, droppedLines, flushNow } =
    given.logger === undefined ? openServerLog({ level: config.log.level }) : unbufferedLog(given.logger)
  const secretResolvers = [
    ...(given.secretResolvers ?? []),
    ...secretResolversOf({ env: process.env, baseDir: configDir }),
  ]
  const readSecret = async (reference: string) =>
    new TextDecoder().decode(await resolveSecret({ secretResolvers, logger }, 'mcp', reference))
  const jwtVerifier = given.jwtVerifier ?? createJwtVerifier({ monotonicMs: clock.monotonicMs })
  return {
    ...{ clock, timers, logger, secretResolvers },
    ids: given.ids,
    digest: given.digest ?? nodeDigest,
    meter: given.meter ?? createPrometheusMeter(),
    cronSchedule: given.cronSchedule ?? createCronSchedule(),
    watchdog: given.watchdog ?? ownWatchdog(config, logger, flushNow),
    droppedLogLines: given.droppedLogLines ?? droppedLines,
    tickets: given.tickets ?? ownTickets(),
    cluster: given.cluster ?? soleNode,
    lockouts: given.lockouts,
    skills: given.skills ?? createFileSkillStore(skillFolders(config, configDir)),
    jwtVerifier,
    hookVerifiers: given.hookVerifiers ?? createHookVerifiers(jwtVerifier),
    webhookSender: given.webhookSender ?? createWebhookSender(config.webhooks),
    remoteFiles: given.remoteFiles ?? createRemoteFiles(config.files),
    mcp:
      given.mcp ??
      createMcpClient({
        ...{ clock, timers, logger, version, ...config.mcp, resolveSecret: readSecret },
        fetch: (url, init) => fetch(url, init),
      }),
  }
}

/** The stores that the processes on one storage share; none if this process has its storage for itself. */
export function sharedStoresOf(
  { tickets, lockouts }: Storage,
  { executor }: Cluster,
  given: Partial<Adapters>,
): Partial<Pick<Adapters, 'tickets' | 'lockouts'>> {
  if (executor === undefined) return {}
  return {
    ...(tickets !== undefined && given.tickets === undefined ? { tickets } : {}),
    ...(lockouts !== undefined && given.lockouts === undefined ? { lockouts } : {}),
  }
}

/** Loaded with the first ticket, because many servers have no WebSockets. */
function ownTickets(): TicketStore {
  let opening: Promise<TicketStore> | undefined
  const open = () => {
    opening ??= import('@perdure/in-memory').then(({ createInMemoryTicketStore }) => createInMemoryTicketStore())
    return opening
  }
  return {
    insert: async (ticket, limits, now) => (await open()).insert(ticket, limits, now),
    take: async (digest, now) => (await open()).take(digest, now),
  }
}

const ownWatchdog = ({ runs, log }: ServerConfig, logger: Logger, flushLog: () => void): Watchdog =>
  runs.maxBlockMs === undefined
    ? noWatchdog
    : createWatchdog({ level: log.level, logger, ownsProcess: false, flushLog })

/**
 * Exports spans to OpenTelemetry if `telemetry.traces` is set; otherwise drops them.
 *
 * @throws StartError `tracing-peer-missing`
 */
export async function openTracer(config: ServerConfig, configDir: string, logger: Logger): Promise<Tracer> {
  return config.telemetry.traces ? openOpenTelemetry({ version, logger, from: configDir }) : noTracer
}

const skillFolders = ({ skills }: ServerConfig, configDir: string) => ({
  ...skills,
  directories: skills.directories.map((path) => resolve(configDir, path)),
  sources: skills.sources.map((path) => resolve(configDir, path)),
})
