import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type NodeIdentity, type Refusal, StartError, type Storage } from '@perdure/ports'
import type * as postgres from '@perdure/postgres'
import type { ServerConfig } from '@perdure/protocol'
import { type Encryption, type OpenedDatabase, openSqliteStorage } from '@perdure/sqlite'
import type { DatabaseAccess } from './pre-bind.ts'

/** A storage that the server opened. */
export interface OpenedStorage extends Storage {
  /** How the file is encrypted; `undefined` if it is not. */
  readonly cipher?: string | undefined
}

export interface OpenStorage {
  readonly config: ServerConfig
  readonly configDir: string
  readonly encryption?: Encryption | undefined
  /** Set with `storage.kind: 'postgres'`. */
  readonly database: DatabaseAccess | undefined
  /** What the other servers of a cluster learn about this one. */
  readonly identity?: NodeIdentity | undefined
  readonly onFilesLost?: ((error: Refusal) => void) | undefined
  readonly onFatal?: ((error: Refusal) => void) | undefined
  readonly onLogMissing?: (() => void) | undefined
  /** Called when the database is open and its schema is up to date. */
  readonly onOpened?: ((opened: OpenedDatabase | postgres.OpenedSchema) => void) | undefined
  /** Called with a warning of the database server. */
  readonly onWarning?: ((message: string) => void) | undefined
  /** Ends a wait for the lock of a schema. */
  readonly signal?: AbortSignal | undefined
}

/** Opens and migrates the configured storage. @throws StartError `storage-locked`, `storage-corrupt`, … */
export function openStorage({
  config,
  configDir,
  database,
  identity,
  onWarning,
  signal,
  ...options
}: OpenStorage): Promise<OpenedStorage> {
  const { path, mode, synchronous, schema } = config.storage
  if (database !== undefined) {
    const { onFatal, onOpened } = options
    const isGuest = mode === 'lib'
    const historyPath = isGuest ? undefined : resolve(configDir, dirname(path), `${schema}.history`)
    const callbacks = { onFatal, onOpened, onWarning, signal }
    return openPostgres(config, database, { configDir, schema, isGuest, historyPath, identity, ...callbacks })
  }
  const file = path === ':memory:' ? path : resolve(configDir, path)
  return openSqliteStorage({ path: file, mode, synchronous, ...options })
}

export interface PostgresSchema {
  readonly configDir: string
  readonly schema: string
  readonly isGuest?: boolean | undefined
  readonly historyPath?: string | undefined
  readonly identity?: NodeIdentity | undefined
  readonly onFatal?: ((error: Refusal) => void) | undefined
  readonly onOpened?: ((opened: postgres.OpenedSchema) => void) | undefined
  readonly onWarning?: ((message: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Opens one schema of the configured database. @throws StartError `postgres-peer-missing`, and as the adapter */
export async function openPostgres(
  { storage }: ServerConfig,
  database: DatabaseAccess,
  { configDir, ...options }: PostgresSchema,
): Promise<Storage> {
  const { openPostgresStorage } = await loadPostgres(configDir)
  const { poolSize, statementTimeoutMs, commitWaitMs, listen, cluster, leaseMs, requireSyncStandby } = storage
  const limits = { poolSize, statementTimeoutMs, commitWaitMs }
  return openPostgresStorage({ ...database, ...limits, listen, cluster, leaseMs, requireSyncStandby, ...options })
}

/** A variable, so that the bundler leaves the package out. */
const PEER: string = '@perdure/postgres'

/**
 * Loads an optional package: a server on SQLite loads nothing of it. The copy beside the configuration is used if there is
 * one; otherwise the one beside this package.
 *
 * @throws StartError `postgres-peer-missing`
 */
export async function loadPostgres(configDir: string): Promise<typeof postgres> {
  try {
    return await import(besideConfig(configDir) ?? PEER)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new StartError('postgres-peer-missing', {
      message: `storage.kind is postgres, but the package ${PEER} cannot be loaded`,
      hint: `install it beside the server: npm install ${PEER}`,
      cause,
    })
  }
}

function besideConfig(folder: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(folder, 'package.json')).resolve(PEER)).href
  } catch {
    return undefined
  }
}
