import type { AppError, Storage, StorageStatus } from '@berth/ports'
import { type Connection, openConnection, type Synchronous } from './connection.ts'
import { createStores } from './create-stores.ts'
import type { Host, HostCounters } from './host/host.ts'
import { createInlineHost } from './host/inline-host.ts'
import { createWorkerHost, startStorageWorker } from './host/worker-host.ts'
import { inspectDatabase } from './inspect-database.ts'
import { takeLease } from './lease.ts'
import { markShutdown } from './meta.ts'
import { applyMigrations } from './migrate.ts'
import { createPrivateFile, fileSize, preparePath, restrictFiles } from './private-file.ts'
import { requireSqliteVersion } from './require-sqlite-version.ts'
import { translateStartError } from './sqlite-error.ts'

export interface SqliteStorageOptions {
  /** Of the database file; `:memory:` is one without files, gone when closed. */
  readonly path: string
  /** `full` (default) survives power loss; `normal` may lose the newest commits to it, never to a crash of the process. */
  readonly synchronous?: Synchronous | undefined
  /** `server` (default) owns the file; `lib` shares it with other processes and takes no lease. */
  readonly mode?: 'server' | 'lib' | undefined
  /** When migrations were applied; epoch milliseconds. */
  readonly now?: (() => number) | undefined
  /** The outcome of a commit is unknown: the process must end, and the next one recovers. Called at most once. */
  readonly onFatal?: ((error: AppError) => void) | undefined
}

export interface SqliteStorage extends Storage {
  counters(): HostCounters
}

/**
 * Opens every storage port on one SQLite file; creates and migrates it as needed.
 *
 * @throws StartError `storage-locked`, `storage-corrupt`, `storage-newer-schema`, `migration-failed`, `config-invalid`.
 */
export async function openSqliteStorage(options: SqliteStorageOptions): Promise<SqliteStorage> {
  return options.path === MEMORY ? openMemory(options) : openFile(options, preparePath(options.path))
}

const MEMORY = ':memory:'

function openMemory({ now = Date.now, onFatal }: SqliteStorageOptions): SqliteStorage {
  const db = openConnection(MEMORY)
  applyMigrations(db.database, { now })
  const host = createInlineHost(db, { onFatal, closeConnection: ({ database }) => void database.close() })
  return assemble(host, () => ({ walBytes: 0, dbBytes: 0 }))
}

async function openFile(options: SqliteStorageOptions, path: string): Promise<SqliteStorage> {
  const sizes = () => ({ walBytes: fileSize(`${path}-wal`), dbBytes: fileSize(path) })
  if (options.mode === 'lib') return assemble(openShared(options, path), sizes)
  const lease = takeLease(path)
  const worker = startStorageWorker()
  try {
    const readFrom = openDatabase(options, path)
    readFrom.database.pragma('query_only = ON')
    const { synchronous, onFatal } = options
    const onClosed = () => lease.release()
    return assemble(createWorkerHost(worker, { path, synchronous, readFrom, onFatal, onClosed }), sizes)
  } catch (error) {
    await worker.end()
    lease.release()
    throw translateStartError(error, path)
  }
}

function openShared(options: SqliteStorageOptions, path: string): Host {
  try {
    const closeConnection = ({ database }: Connection) => void database.close()
    return createInlineHost(openDatabase(options, path), { onFatal: options.onFatal, closeConnection })
  } catch (error) {
    throw translateStartError(error, path)
  }
}

function openDatabase({ mode, synchronous, now = Date.now }: SqliteStorageOptions, path: string): Connection {
  const isServer = mode !== 'lib'
  inspectDatabase(path, { checkAfterCrash: isServer })
  createPrivateFile(path)
  restrictFiles(path)
  const db = openConnection(path, { synchronous })
  try {
    requireSqliteVersion(db.database)
    applyMigrations(db.database, { path, now })
    if (isServer) markShutdown(db, false)
    return db
  } catch (error) {
    db.database.close()
    throw error
  }
}

function assemble(host: Host, sizes: () => Pick<StorageStatus, 'walBytes' | 'dbBytes'>): SqliteStorage {
  return {
    ...createStores(host),
    counters: host.counters,
    async status() {
      const state = host.state()
      return { writable: state === 'open', ...sizes(), message: STATE_MESSAGES[state] }
    },
    close: host.close,
  }
}

const STATE_MESSAGES = {
  open: undefined,
  full: 'The disk is full.',
  failed: 'The storage failed.',
  closed: 'The storage is closed.',
}
