import { type Clock, MAX_CLOCK_SKEW_MS, type Storage, type StorageStatus } from '@perdure/ports'
import type { CheckStatus, Health, Readiness } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { AuditHealth } from '../audit/audit.ts'
import type { ConsolidatorCheck } from '../consolidator/consolidator-state.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { EmbedderCheck } from '../memory/vectors.ts'
import type { NodeWatch } from '../nodes/node-watch.ts'
import type { HotCacheStats } from '../realtime/hot-cache.ts'
import type { TriggerHealth } from '../triggers/trigger-daemon.ts'

export interface ReadHealthDeps {
  readonly storage: Pick<Storage, 'status' | 'tail'>
  readonly phase: PhaseHolder
  readonly clock: Clock
  readonly version: string
  readonly walWarnThresholdBytes: number
  /** The storage check warns when free disk space falls below this value; if missing, it never warns about space. */
  readonly minFreeBytes?: number | undefined
  /** Statistics of the cache in front of the event log. */
  readonly replayBuffer: () => HotCacheStats
  /** Scheme that resolved the secrets, for example `env`. */
  readonly secretsStore: string
  /** Cipher of the database file; `undefined` if it is not encrypted. */
  readonly cipher?: string | undefined
  /** State of the audit chain; shown in the storage check. */
  readonly readAuditHealth?: (() => AuditHealth) | undefined
  readonly readTriggerHealth: () => TriggerHealth
  readonly checkEmbedder: () => EmbedderCheck
  readonly checkConsolidator: () => ConsolidatorCheck
  /** Whether other servers still count on this one; always when missing. */
  readonly hasLease?: (() => boolean) | undefined
  /** By how many milliseconds the clock of this server is ahead of that of the storage; 0 when missing. */
  readonly clockSkewMs?: (() => number) | undefined
  /** By how many milliseconds the clock of the machine is ahead of the time that this server uses; 0 when missing. */
  readonly distrustedMs?: (() => number) | undefined
  /** The servers of the cluster; if missing, there is only this one. */
  readonly readCluster?: NodeWatch['health'] | undefined
  /** Whether the event loop was blocked a moment ago; never when missing. */
  readonly wasBlocked?: (() => boolean) | undefined
}

/** Reads the server's health. Runs at most one `SELECT 1` per second on the database. */
export interface ReadHealth {
  document(): Promise<HealthDocument>
  live(): { readonly status: 'ok' }
  ready(): Promise<InferOutput<typeof Readiness>>
}

export function createReadHealth(deps: ReadHealthDeps): ReadHealth {
  const startedMs = deps.clock.monotonicMs()
  const readSample = createStatusSampler(deps)

  return {
    async document() {
      const checks = checksOf(deps, await readSample())
      const statuses = Object.values(checks).map(({ status }): CheckStatus => status)
      return {
        status: statuses.includes('fail') ? 'failing' : statuses.includes('warn') ? 'degraded' : 'ok',
        version: deps.version,
        uptimeSeconds: Math.floor((deps.clock.monotonicMs() - startedMs) / 1_000),
        checks,
        tail: tailOf(deps),
        nodes: deps.readCluster?.(),
        clock: clockOf(deps),
      }
    },
    live: () => ({ status: 'ok' }),
    async ready() {
      const phase = deps.phase.current()
      if (phase !== 'ready') return { status: phase === 'starting' ? 'starting' : 'draining' }
      if (deps.wasBlocked?.() === true || deps.hasLease?.() === false || isClockWrong(deps))
        return { status: 'failing' }
      return { status: (await readSample()).writable ? 'ready' : 'failing' }
    },
  }
}

/** Caches the storage status for one second, however often health is requested. */
function createStatusSampler(deps: ReadHealthDeps): () => Promise<StorageStatus> {
  let sample: { readonly atMs: number; readonly status: Promise<StorageStatus> } | undefined
  return () => {
    const atMs = deps.clock.monotonicMs()
    if (sample === undefined || atMs - sample.atMs >= SAMPLE_MS) sample = { atMs, status: readStatus(deps) }
    return sample.status
  }
}

/** How closely this process follows the commits of the others; `undefined` if there are no others. */
function tailOf({ storage }: ReadHealthDeps): TailHealth | undefined {
  const state = storage.tail?.state()
  if (state === undefined) return undefined
  const { isCurrent, lagMs, isListening } = state
  return { current: isCurrent, lagMs: Math.round(lagMs), listening: isListening }
}

const SAMPLE_MS = 1_000

async function readStatus({ storage }: ReadHealthDeps): Promise<StorageStatus> {
  try {
    return await storage.status()
  } catch {
    return { writable: false, walBytes: 0, dbBytes: 0, message: 'the storage cannot be read' }
  }
}

function checksOf(deps: ReadHealthDeps, storage: StorageStatus) {
  const { secretsStore, cipher, readTriggerHealth, replayBuffer } = deps
  return {
    storage: storageCheck(deps, storage),
    embedder: deps.checkEmbedder(),
    secrets: { status: 'ok' as CheckStatus, store: secretsStore },
    encryption: {
      status: (cipher === undefined ? 'disabled' : 'ok') as CheckStatus,
      enabled: cipher !== undefined,
      cipher,
    },
    consolidator: deps.checkConsolidator(),
    triggers: triggersCheck(readTriggerHealth()),
    replayBuffer: { status: 'ok' as CheckStatus, ...replayBuffer() },
  }
}

const isClockWrong = ({ clockSkewMs }: ReadHealthDeps) => Math.abs(clockSkewMs?.() ?? 0) > MAX_CLOCK_SKEW_MS

/** Absent while the clock of this machine is trusted and agrees with that of the storage. */
function clockOf(deps: ReadHealthDeps): ClockHealth | undefined {
  const skewMs = Math.round(deps.clockSkewMs?.() ?? 0)
  const distrustedMs = Math.round(deps.distrustedMs?.() ?? 0)
  return isClockWrong(deps) || distrustedMs !== 0 ? { skewMs, distrustedMs } : undefined
}

function clockCheck(deps: ReadHealthDeps): { readonly status: CheckStatus; readonly message?: string } {
  if (isClockWrong(deps)) {
    return { status: 'fail', message: 'the clock of this machine differs from that of the database server' }
  }
  if (clockOf(deps) === undefined) return { status: 'ok' }
  const message = 'the clock of this machine was changed; the change is ignored until it has lasted for a minute'
  return { status: 'warn', message }
}

function storageCheck(
  deps: ReadHealthDeps,
  { walBytes, dbBytes, writable, message, server, freeBytes = deps.minFreeBytes ?? 0 }: StorageStatus,
) {
  const { walWarnThresholdBytes, minFreeBytes = 0, readAuditHealth } = deps
  const audit = readAuditHealth?.() ?? { status: 'ok' }
  const clock = clockCheck(deps)
  const warning =
    freeBytes < minFreeBytes
      ? 'the disk is nearly full'
      : walBytes > walWarnThresholdBytes
        ? 'the write-ahead log exceeds its threshold'
        : undefined
  const storageStatus: CheckStatus = warning === undefined ? 'ok' : 'warn'
  return {
    status: worstOf(writable ? storageStatus : 'fail', audit.status, clock.status),
    message: message ?? clock.message ?? audit.message ?? warning,
    ...{ walBytes, thresholdBytes: walWarnThresholdBytes, dbBytes, writable },
    ...(server && { connections: server.connections }),
  }
}

function worstOf(...statuses: readonly CheckStatus[]): CheckStatus {
  if (statuses.includes('fail')) return 'fail'
  return statuses.includes('warn') ? 'warn' : 'ok'
}

function triggersCheck({ state, active, disabled, nextDueAt }: TriggerHealth) {
  const isFailing = state === 'failing'
  return {
    status: (isFailing ? 'warn' : 'ok') as CheckStatus,
    message: isFailing ? 'trigger processing keeps failing; see the log' : undefined,
    ...{ running: state !== 'stopped', active, disabled },
    nextFireAt: nextDueAt === undefined ? null : new Date(nextDueAt).toISOString(),
  }
}

export interface HealthDocument {
  readonly status: InferOutput<typeof Health>['status']
  readonly version: string
  readonly uptimeSeconds: number
  readonly checks: ReturnType<typeof checksOf>
  readonly tail: TailHealth | undefined
  readonly nodes: ReturnType<NodeWatch['health']>
  readonly clock: ClockHealth | undefined
}

export interface ClockHealth {
  readonly skewMs: number
  readonly distrustedMs: number
}

export interface TailHealth {
  readonly current: boolean
  readonly lagMs: number
  readonly listening: boolean
}
