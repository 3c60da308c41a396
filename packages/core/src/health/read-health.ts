import type { Clock, Storage, StorageStatus } from '@berth/ports'
import type { ConsolidatorCheck } from '../consolidator/consolidator-state.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { EmbedderCheck } from '../memory/vectors.ts'

export interface ReadHealthDeps {
  readonly storage: Pick<Storage, 'status'>
  readonly phase: PhaseHolder
  readonly clock: Clock
  readonly version: string
  readonly walWarnThresholdBytes: number
  /** The scheme that resolved the secrets, for example `env`. */
  readonly secretsStore: string
  readonly checkEmbedder: () => EmbedderCheck
  readonly checkConsolidator: () => ConsolidatorCheck
}

export type CheckStatus = 'ok' | 'warn' | 'fail' | 'disabled'

/** Reads of the server's health. Costs the database one `SELECT 1`. */
export interface ReadHealth {
  document(): Promise<HealthDocument>
  live(): { readonly status: 'ok' }
  ready(): Promise<{ readonly status: 'ready' | 'starting' | 'draining' | 'failing' }>
}

export function createReadHealth(deps: ReadHealthDeps): ReadHealth {
  const startedMs = deps.clock.monotonicMs()

  return {
    async document() {
      const checks = checksOf(deps, await readStatus(deps))
      const statuses = Object.values(checks).map(({ status }): CheckStatus => status)
      return {
        status: statuses.includes('fail') ? 'failing' : statuses.includes('warn') ? 'degraded' : 'ok',
        version: deps.version,
        uptimeSeconds: Math.floor((deps.clock.monotonicMs() - startedMs) / 1_000),
        checks,
      }
    },
    live: () => ({ status: 'ok' }),
    async ready() {
      const phase = deps.phase.current()
      if (phase !== 'ready') return { status: phase === 'starting' ? 'starting' : 'draining' }
      return { status: (await readStatus(deps)).writable ? 'ready' : 'failing' }
    },
  }
}

async function readStatus({ storage }: ReadHealthDeps): Promise<StorageStatus> {
  try {
    return await storage.status()
  } catch {
    return { writable: false, walBytes: 0, dbBytes: 0, message: 'the storage cannot be read' }
  }
}

function checksOf(deps: ReadHealthDeps, storage: StorageStatus) {
  const { walWarnThresholdBytes, secretsStore } = deps
  const { walBytes, dbBytes, writable, message } = storage
  const isLong = walBytes > walWarnThresholdBytes
  return {
    storage: {
      status: (writable ? (isLong ? 'warn' : 'ok') : 'fail') as CheckStatus,
      message: message ?? (isLong ? 'the write-ahead log is longer than the threshold' : undefined),
      walBytes,
      thresholdBytes: walWarnThresholdBytes,
      dbBytes,
      writable,
    },
    embedder: deps.checkEmbedder(),
    secrets: { status: 'ok' as CheckStatus, store: secretsStore },
    encryption: { status: 'disabled' as CheckStatus, enabled: false },
    consolidator: deps.checkConsolidator(),
    triggers: { status: 'disabled' as CheckStatus, running: false, active: 0, disabled: 0, nextFireAt: null },
    replayBuffer: { status: 'disabled' as CheckStatus, events: 0, subjects: 0, bytes: 0 },
  }
}

export interface HealthDocument {
  readonly status: 'ok' | 'degraded' | 'failing'
  readonly version: string
  readonly uptimeSeconds: number
  readonly checks: ReturnType<typeof checksOf>
}
