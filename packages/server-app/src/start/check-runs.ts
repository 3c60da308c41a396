import { resolve } from 'node:path'
import { openVitals } from '@perdure/platform-node'
import { StartError, type Storage, type Tracer } from '@perdure/ports'
import { openSqliteReader } from '@perdure/sqlite'
import type { Composition } from '../compose/compose.ts'
import type { PerdureServer } from '../perdure-server.ts'
import type { Adapters, Platform } from './adapters.ts'
import type { LifecycleParts } from './lifecycle-parts.ts'
import { openBlobs } from './open-blobs.ts'
import { loadPostgres } from './open-storage.ts'
import type { Secrets } from './pre-bind.ts'

export interface CheckRunsParts extends LifecycleParts {
  readonly platform: Platform
  readonly validate: () => Promise<{ readonly secrets: Secrets; readonly tracer: Tracer }>
}

/** What a server that has not started can say about the runs in its storage. */
export const storedRunsOf = (parts: CheckRunsParts): Pick<PerdureServer, 'checkRuns' | 'replayRuns'> => ({
  checkRuns: () => readingRuns(parts, (engine) => engine.checkRuns()),
  replayRuns: (filter = {}) => readingRuns(parts, (engine) => engine.replayRuns(filter)),
})

type Engine = Composition['engine']

/** Opens the storage for reading, beside a running server. */
async function* readingRuns<Item>(
  parts: CheckRunsParts,
  read: (engine: Engine) => AsyncGenerator<Item, void, void>,
): AsyncGenerator<Item, void, void> {
  const { secrets, tracer } = await parts.validate()
  const storage = parts.given.storage ?? (await openReader(parts, secrets))
  const vitals = openVitals()
  try {
    const { compose } = await import('../compose/compose.ts')
    const blobs = await openBlobs(parts.config, { ...parts.platform, configDir: parts.configDir, secrets })
    const adapters: Adapters = { ...parts.platform, storage: readOnly(storage), blobs, tracer }
    const { engine } = compose({ ...parts, secrets, vitals, adapters, auditLocation: {}, cipher: undefined })
    yield* read(engine)
  } finally {
    vitals.close()
    if (parts.given.storage === undefined) await storage.close()
    if (parts.given.mcp === undefined) await parts.platform.mcp.close()
  }
}

/** Opens the storage of the configuration for reading. */
export async function openReader(
  { config, configDir }: Pick<CheckRunsParts, 'config' | 'configDir'>,
  { storageEncryption: encryption, database }: Secrets,
): Promise<Storage> {
  const { path, schema } = config.storage
  if (database !== undefined) return (await loadPostgres(configDir)).openPostgresReader({ ...database, schema })
  if (path !== ':memory:') return openSqliteReader({ path: resolve(configDir, path), encryption })
  throw new StartError('config-invalid', {
    message: 'storage.path: :memory: has no stored runs',
    hint: 'set storage.path to a file',
  })
}

const readOnly = (storage: Storage): Storage => ({
  ...storage,
  unitOfWork: { commit: () => Promise.reject(new Error('the runs are only checked; nothing is written')) },
})
