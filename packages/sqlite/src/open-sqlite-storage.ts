import type { Refusal, Storage, StorageStatus } from '@perdure/ports'
import { createStores, keepTokens } from '@perdure/storage'
import type { SchemaChange } from './file/applied-migration.ts'
import { type Connection, keepOpen, openConnection, openInlineConnection } from './file/connection.ts'
import type { Encryption } from './file/encryption.ts'
import { type HeldFiles, holdFiles } from './file/held-files.ts'
import { inspectDatabase } from './file/inspect-database.ts'
import { type Lease, takeLease } from './file/lease.ts'
import { markOpen } from './file/meta.ts'
import { applyMigrations } from './file/migrate.ts'
import { requireNotMoved } from './file/moved.ts'
import { CIPHER, databaseOpener, type OpenDatabase } from './file/open-database.ts'
import { createPrivateFile, fileSize, preparePath, restrictFiles } from './file/private-file.ts'
import { requireSqliteVersion } from './file/require-sqlite-version.ts'
import { rescue } from './file/rescue.ts'
import { requireRestored } from './file/rescued-copy.ts'
import { requireSingleName } from './file/single-name.ts'
import { translateStartError } from './file/sqlite-error.ts'
import type { Synchronous } from './file/synchronous.ts'
import { createCommitMarks, requireMarkedCommits } from './host/commit-marks.ts'
import { createFileGuard } from './host/file-guard.ts'
import type { Host } from './host/host.ts'
import type { HostCounters } from './host/host-counters.ts'
import { createInlineHost } from './host/inline-host.ts'
import { createReserve, freeBytes } from './host/reserve.ts'
import { createUpkeep, UPKEEP_MS } from './host/upkeep.ts'
import { createWorkerHost, rescueThrough, type StorageWorker, startStorageWorker } from './host/worker-host.ts'

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
   * Called at once when files of the database are removed or replaced. The storage commits nothing more, saves its
   * content and then calls `onFatal`.
   */
  readonly onFilesLost?: ((error: Refusal) => void) | undefined
  /**
   * Called at most once: when the outcome of a commit is unknown, or when the content of lost files is saved. Must end
   * the process; the next startup recovers the file.
   */
  readonly onFatal?: ((error: Refusal) => void) | undefined
  /**
   * Called while a `server` storage opens, if the last server did not shut down cleanly and the write-ahead log that it
   * left is gone. The newest commits are lost unless another program has merged the log into the file.
   */
  readonly onLogMissing?: (() => void) | undefined
  /** Called while the storage opens, after the schema is up to date. Not called for a database in memory. */
  readonly onOpened?: ((opened: OpenedDatabase) => void) | undefined
}

/** The file that a storage has opened. */
export interface OpenedDatabase {
  readonly path: string
  readonly schemaVersion: number
  /** The migrations that this start applied; `undefined` if none was pending. From 0 if the start created the database. */
  readonly change: SchemaChange | undefined
}

export interface SqliteStorage extends Storage {
  counters(): HostCounters
  /** The cipher of the file; `undefined` when the file is not encrypted. */
  readonly cipher: string | undefined
}

/**
 * Opens every storage port on one SQLite file. Creates and migrates the file as needed.
 *
 * @throws StartError `storage-locked`, `storage-shared`, `storage-replaced`, `storage-moved`, `storage-corrupt`,
 *   `storage-newer-schema`, `migration-failed`, `config-invalid`, `encryption-peer-missing`, `encryption-passphrase-missing`,
 *   `encryption-passphrase-wrong`.
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
    const readFrom = openDatabase({ ...options, lease }, path, open)
    const storeMark = createCommitMarks(readFrom, { worker, lease, synchronous: options.synchronous })
    readFrom.database.pragma('query_only = ON')
    const held = holdFiles(path, ['', '-wal', '-shm', '.lock'])
    const { synchronous, encryption, onFilesLost, onFatal, now = Date.now } = options
    const onClosed = () => lease.release()
    const reserve = createReserve(path)
    const guard = createFileGuard({ path, held, now, rescue: rescueThrough(worker, readFrom) })
    const openInline = () => unlessLost(held, () => openInlineConnection(path, { synchronous, open }))
    const parts = { readFrom, openInline, reserve, guard, onFilesLost, onFatal, onClosed }
    const host = createWorkerHost(worker, { path, synchronous, encryption, ...parts })
    const upkeep = await startUpkeep({ host, worker, path, storeMark })
    const storage = assemble(withUpkeep(host, upkeep.end), () => ({ ...sizes(), freeBytes: upkeep.freeBytes() }))
    return { ...keepTokens(storage), cipher }
  } catch (error) {
    await worker.terminate()
    lease.release()
    throw translateStartError(error, path)
  }
}

/** Opening a lost file by its name would open, or create, another file. */
function unlessLost(held: HeldFiles, open: () => Connection): Connection {
  const db = open()
  if (held.lost().length === 0) return db
  keepOpen(db)
  throw new Error('the files of the database were removed or replaced')
}

interface UpkeepDeps {
  readonly host: Host
  readonly worker: StorageWorker
  readonly path: string
  readonly storeMark: () => Promise<void>
}

/** Runs upkeep about every second. A round that takes longer delays the next round. */
async function startUpkeep({ host, worker, path, storeMark }: UpkeepDeps) {
  let free = await freeBytes(path)
  const walBytes = () => fileSize(`${path}-wal`)
  const checkpoint = (truncate: boolean) => worker.send({ type: 'checkpoint', truncate })
  const measureFreeSpace = async () => {
    free = await freeBytes(path)
  }
  const work = createUpkeep({ host, checkpoint, walBytes, storeMark, measureFreeSpace })
  let working: Promise<void> | undefined
  const round = () => {
    host.checkFiles()
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

const withUpkeep = (host: Host, end: () => Promise<void>): Host => ({
  ...host,
  async close() {
    await end()
    await host.close()
  },
})

function openShared(options: SqliteStorageOptions, path: string, open: OpenDatabase): Host {
  try {
    requireSingleName(path)
    const { onFilesLost, onFatal, now = Date.now } = options
    const db = openDatabase(options, path, open)
    const held = holdFiles(path, ['', '-wal', '-shm'])
    const guard = createFileGuard({ path, held, now, rescue: async (request) => rescue(db.database, request) })
    const closeConnection = ({ database }: Connection) => void database.close()
    const host = createInlineHost(db, { guard, onFilesLost, onFatal, closeConnection })
    const interval = setInterval(() => host.checkFiles(), UPKEEP_MS).unref()
    return withUpkeep(host, async () => clearInterval(interval))
  } catch (error) {
    throw translateStartError(error, path)
  }
}

interface OpenOptions extends SqliteStorageOptions {
  /** Missing in `lib` mode. */
  readonly lease?: Lease
}

function openDatabase(options: OpenOptions, path: string, open: OpenDatabase): Connection {
  const { mode, synchronous, lease, now = Date.now } = options
  const isServer = mode !== 'lib'
  requireRestored(path)
  const findings = inspectDatabase(path, { checkAfterCrash: isServer, synchronous, open })
  requireNotMoved(path, findings.movedTo)
  if (lease !== undefined) requireMarkedCommits(path, findings.markWithoutLog, lease)
  lease?.requireSoleOwner(open)
  createPrivateFile(path)
  restrictFiles(path)
  const db = openConnection(path, { synchronous, open })
  try {
    requireSqliteVersion(db.database)
    const change = applyMigrations(db.database, { path, now })
    if (isServer) markOpen(db)
    options.onOpened?.({ path, schemaVersion: db.database.pragma('user_version', { simple: true }) as number, change })
    if (findings.isLogMissing) options.onLogMissing?.()
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
      host.checkFiles()
      const state = host.state()
      const status = { writable: state === 'open', ...sizes(), message: host.problem() ?? STATE_MESSAGES[state] }
      return host.isSaving() ? { ...status, isSaving: true } : status
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
