import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { createPhase } from '@perdure/core'
import { type BlobStore, type Logger, noTracer, type Storage } from '@perdure/ports'
import { DURATION_FORMS, type Duration, toMilliseconds } from '@perdure/protocol'
import { createAttribution } from '../compose/attribution.ts'
import type { Composition } from '../compose/compose.ts'
import { parseConfig } from '../config.ts'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from '../start/adapters.ts'
import { readMcpServers } from '../start/mcp-servers.ts'
import { validateBeforeBind } from '../start/pre-bind.ts'
import { createRegisteredSkills } from '../start/registered-skills.ts'
import { createRegistries } from '../start/registries.ts'
import { createMovableClock, type MovableClock } from './movable-clock.ts'

export interface WorldOptions
  extends Pick<ServerOptions, 'config' | 'agents' | 'workflows' | 'skills' | 'mcpServers' | 'embedder' | 'adapters'> {
  /** Start of the clock, which then runs and can be advanced with `advance`. Defaults to 2025-01-01. */
  readonly now?: Date
}

/** A server in the process of a test. */
export interface World {
  readonly composition: Composition
  readonly clock: MovableClock
  /** What the code of failed runs threw, by run id. */
  readonly thrown: ReadonlyMap<string, unknown>
}

/** What survives the process of a server. */
export interface WorldStores {
  readonly clock: MovableClock
  readonly storage: Storage
  readonly blobs: BlobStore
}

/** @param stores those of an earlier world, which has ended */
export async function openWorld(options: WorldOptions, stores?: WorldStores): Promise<World & WorldStores> {
  // Loaded on use: modules that several entries of this package import statically are loaded by a server at its start.
  const [{ compose }, { createInMemoryBlobStore, createInMemoryStorage }] = await Promise.all([
    import('../compose/compose.ts'),
    import('@perdure/in-memory'),
  ])
  const config = parseConfig({ auth: { kind: 'none' }, log: { level: 'error' }, ...options.config })
  const clock = stores?.clock ?? createMovableClock((options.now ?? new Date(DEFAULT_START_MS)).getTime())
  const storage = stores?.storage ?? createInMemoryStorage()
  const platform = createPlatform(config, process.cwd(), { clock, timers: clock, ...options.adapters })
  const blobs = stores?.blobs ?? createInMemoryBlobStore(platform)
  const phase = createPhase()
  const attribution = createAttribution()
  const composition = compose({
    ...createRegistries(options, attribution),
    config,
    attribution,
    phase,
    vitals: NO_VITALS,
    auditLocation: {},
    cipher: undefined,
    adapters: {
      storage,
      blobs,
      tracer: noTracer,
      ...platform,
      logger: withoutFailedRuns(platform.logger),
      ...options.adapters,
    },
    secrets: await validateBeforeBind(config, platform),
    embedder: options.embedder,
    consolidator: {},
    registeredSkills: createRegisteredSkills(options.skills ?? []),
    mcpServers: readMcpServers(options.mcpServers ?? []),
  })
  const thrown = new Map<string, unknown>()
  composition.engine.observeRuns(({ id }, info) => thrown.set(id, info.thrown))
  phase.enter('ready')
  return { composition, clock, thrown, storage, blobs }
}

/** A test gets what a failed run threw as `error`, and expects some runs to fail. */
const withoutFailedRuns = (logger: Logger): Logger => ({
  ...logger,
  error(message, ...detail) {
    if (message !== 'run failed') logger.error(message, ...detail)
  },
})

const DEFAULT_START_MS = Date.UTC(2025, 0, 1)
const NO_VITALS = { eventLoopDelaySeconds: () => 0, residentMemoryBytes: () => 0, close: () => undefined }

/** A duration of the author API in milliseconds. @throws RangeError for a value that is not a duration */
export function msOf(duration: Duration): number {
  const milliseconds = toMilliseconds(duration)
  if (milliseconds === undefined) throw new RangeError(`advance: the duration must be ${DURATION_FORMS}`)
  return milliseconds
}

/** Resolves when no run executes or is about to execute. */
export async function idle({ composition, clock }: Pick<World, 'composition' | 'clock'>): Promise<void> {
  for (let quietTurns = 0; quietTurns < QUIET_TURNS; quietTurns++) {
    await turn()
    clock.pass(0)
    const { executing, queued } = composition.engine.readLoad()
    if (executing.agent + executing.workflow + queued === 0) continue
    await pause(1)
    quietTurns = 0
  }
}

/**
 * Runs count as idle after this many consecutive turns of the event loop without an executing or queued run: the
 * follow-up work of a run may need several turns to start another run.
 */
const QUIET_TURNS = 12
