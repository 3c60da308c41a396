import type { AppError, Storage, StorageStatus } from '@perdure/ports'
import { createStores } from './create-stores.ts'
import { type Connection, openConnection, openInlineConnection } from './file/connection.ts'
import type { Encryption } from './file/encryption.ts'
import { inspectDatabase } from './file/inspect-database.ts'
import { takeLease } from './file/lease.ts'
import { applyMigrations } from './file/migrate.ts'
import { CIPHER, databaseOpener, type OpenDatabase } from './file/open-database.ts'
import { createPrivateFile, fileSize, preparePath, restrictFiles } from './file/private-file.ts'
import { requireSqliteVersion } from './file/require-sqlite-version.ts'
import { translateStartError } from './file/sqlite-error.ts'
import type { Synchronous } from './file/synchronous.ts'
import type { Host } from './host/host.ts'
import type { HostCounters } from './host/host-counters.ts'
import { createInlineHost } from './host/inline-host.ts'
import { createReserve, freeBytes } from './host/reserve.ts'
import { createUpkeep } from './host/upkeep.ts'
import { createWorkerHost, type StorageWorker, startStorageWorker } from './host/worker-host.ts'
import { markShutdown } from './rows/meta.ts'

export interface SqliteStorageOptions {
  /** Path of the database file. `:memory:` uses no files; the data is gone after `close`. */
  readonly path: string
  /**
   * With `full` (default), commits survive power loss. With `normal`, commits survive a process crash, but power loss
   * may undo the newest commits.
   */
  readonly synchronous?: Synchronous | undefined
  /**
   * `server` (default) owns the file through a lease. `lib` takes no lease and shares the file with other processes.
   */
  readonly mode?: 'server' | 'lib' | undefined
  /** Encrypts the file, its WAL and its copies. Needs the optional package `better-sqlite3-multiple-ciphers`. */
  readonly encryption?: Encryption | undefined
  /** Clock for the timestamps of applied migrations, in epoch milliseconds. */
  readonly now?: (() => number) | undefined
  /**
   * Called at most once, when the outcome of a commit is unknown. Must end the process; the next startup recovers the
   * file.
   */
  readonly onFatal?: ((error: AppError) => void) | undefined
}

export interface SqliteStorage extends Storage {
  counters(): HostCounters
  /** The cipher of the file; `undefined` when the file is not encrypted. */
  readonly cipher: string | undefined
}

/**
 * Opens every storage port on one SQLite file. Creates and migrates the file as needed.
 *
 * @throws StartError `storage-locked`, `storage-corrupt`, `storage-newer-schema`, `migration-failed`, `config-invalid`,
 *   `encryption-peer-missing`, `encryption-passphrase-missing`, `encryption-passphrase-wrong`.
 */
export async function openSqliteStorage(options: SqliteStorageOptions): Promise<SqliteStorage> {
  const open = await databaseOpener(options.encryption)
  return options.path === MEMORY ? openMemory(options) : openFile(options, preparePath(options.path), open)
}

const MEMORY = ':memory:'

function openMemory({ now = Date.now, onFatal }: SqliteStorageOptions): SqliteStorage {
  const db = openConnection(MEMORY)
  applyMigrations(db.database, { now })
  const host = createInlineHost(db, { onFatal, closeConnection: ({ database }) => void database.close() })
  return { ...assemble(host, () => ({ walBytes: 0, dbBytes: 0 })), cipher: undefined }
}

async function openFile(options: SqliteStorageOptions, path: string, open: OpenDatabase): Promise<SqliteStorage> {
  const sizes = () => ({ walBytes: fileSize(`${path}-wal`), dbBytes: fileSize(path) })
  const cipher = options.encryption === undefined ? undefined : CIPHER
  if (options.mode === 'lib') return { ...assemble(openShared(options, path, open), sizes), cipher }
  const lease = takeLease(path)
  const worker = startStorageWorker()
  try {
    const readFrom = openDatabase(options, path, open)
    readFrom.database.pragma('query_only = ON')
    const { synchronous, encryption, onFatal } = options
    const onClosed = () => lease.release()
    const reserve = createReserve(path)
    const openInline = () => openInlineConnection(path, { synchronous, open })
    const parts = { readFrom, openInline, reserve, onFatal, onClosed }
    const host = createWorkerHost(worker, { path, synchronous, encryption, ...parts })
    const upkeep = await startUpkeep({ host, worker, path })
    return { ...assemble(withUpkeep(host, upkeep.end), () => ({ ...sizes(), freeBytes: upkeep.freeBytes() })), cipher }
  } catch (error) {
    await worker.terminate()
    lease.release()
    throw translateStartError(error, path)
  }
}

interface UpkeepDeps {
  readonly host: Host
  readonly worker: StorageWorker
  readonly path: string
}

/** Runs upkeep about every second. A round that takes longer delays the next round. */
async function startUpkeep({ host, worker, path }: UpkeepDeps) {
  let free = await freeBytes(path)
  const walBytes = () => fileSize(`${path}-wal`)
  const checkpoint = (truncate: boolean) => worker.send({ type: 'checkpoint', truncate })
  const measureFreeSpace = async () => {
    free = await freeBytes(path)
  }
  const work = createUpkeep({ host, checkpoint, walBytes, measureFreeSpace })
  let working: Promise<void> | undefined
  const round = () => {
    working ??= work().finally(() => {
      working = undefined
    })
  }
  const interval = setInterval(round, UPKEEP_MS).unref()
  return {
    freeBytes: () => free,
    async end() {
      clearInterval(interval)
      await working
    },
  }
}

const UPKEEP_MS = 1_000

const withUpkeep = (host: Host, end: () => Promise<void>): Host => ({
  ...host,
  async close() {
    await end()
    await host.close()
  },
})

function openShared(options: SqliteStorageOptions, path: string, open: OpenDatabase): Host {
  try {
    const closeConnection = ({ database }: Connection) => void database.close()
    return createInlineHost(openDatabase(options, path, open), { onFatal: options.onFatal, closeConnection })
  } catch (error) {
    throw translateStartError(error, path)
  }
}

function openDatabase(options: SqliteStorageOptions, path: string, open: OpenDatabase): Connection {
  const { mode, synchronous, now = Date.now } = options
  const isServer = mode !== 'lib'
  inspectDatabase(path, { checkAfterCrash: isServer, synchronous, open })
  createPrivateFile(path)
  restrictFiles(path)
  const db = openConnection(path, { synchronous, open })
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

function assemble(
  host: Host,
  sizes: () => Pick<StorageStatus, 'walBytes' | 'dbBytes' | 'freeBytes'>,
): Omit<SqliteStorage, 'cipher'> {
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
