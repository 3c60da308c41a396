import { StartError } from '@perdure/ports'
import type Database from 'better-sqlite3'
import { openConnection } from './connection.ts'
import type { Encryption } from './encryption.ts'
import type { ExportedTable } from './exported-table.ts'
import { type ExportQuery, exportQueries } from './exported-tables.ts'
import { inspectDatabase } from './inspect-database.ts'
import { takeLease } from './lease.ts'
import { pendingMigrations } from './migrate.ts'
import { movedTo, storeMovedTo } from './moved.ts'
import { databaseOpener } from './open-database.ts'
import { fileSize, preparePath } from './private-file.ts'
import { requireRestored } from './rescued-copy.ts'
import { translateStartError } from './sqlite-error.ts'

export interface SqliteExportOptions {
  readonly path: string
  readonly encryption?: Encryption | undefined
}

export type ExportedValue = string | number | null | Uint8Array

/** The content of a database file while nobody else can write to it. */
export interface SqliteExport {
  readonly path: string
  /** Identifies the log of the database, and so the database. */
  readonly epoch: string
  /** Events up to this position may be deleted. */
  readonly trimmedThrough: number
  /** Until when idempotency records with ids of an old form stay valid, in epoch milliseconds. */
  readonly legacyIdsUntil: number
  /** Where an earlier move has gone; `undefined` if the file was not moved. */
  readonly movedTo: string | undefined
  readonly tables: readonly ExportedTable[]
  count(table: ExportedTable): number
  /** Reads the rows one by one, in the order of the table. Read one table at a time, and to its end. */
  rows(table: ExportedTable): Iterable<readonly ExportedValue[]>
  /** Records durably that the content was moved. From then on, no storage opens the file. */
  markMoved(target: string): void
  /** Idempotent. */
  close(): void
}

/**
 * Opens a database for copying. Holds the lease of a server and the write lock of the file, so that the copy is complete;
 * changes nothing until `markMoved`.
 *
 * @throws StartError `copy-refused` for a file that was not shut down cleanly; `config-invalid` for a missing file;
 *   `migration-failed` for one with pending migrations; otherwise as `openSqliteStorage`
 */
export async function openSqliteExport({ path, encryption }: SqliteExportOptions): Promise<SqliteExport> {
  const open = await databaseOpener(encryption)
  if (fileSize(path) === 0) throw missing(path)
  const file = preparePath(path)
  const lease = takeLease(file)
  try {
    requireRestored(file)
    inspectDatabase(file, { checkAfterCrash: false, open })
    lease.requireSoleOwner(open)
    const { database } = openConnection(file, { open })
    try {
      if (pendingMigrations(database).length > 0) throw outdated(file)
      database.exec('BEGIN IMMEDIATE')
      if (metaOf(database, 'clean_shutdown') !== '1') throw unclean(file)
      return createExport(file, database, () => lease.release())
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    lease.release()
    throw translateStartError(error, file)
  }
}

function createExport(path: string, database: Database.Database, release: () => void): SqliteExport {
  const queries = new Map<ExportedTable, ExportQuery>(exportQueries(database).map((query) => [query.table, query]))
  return {
    path,
    epoch: metaOf(database, 'epoch') ?? '',
    trimmedThrough: Number(metaOf(database, 'trimmed_through')),
    legacyIdsUntil: Number(metaOf(database, 'hashed_ids_until') ?? 0),
    movedTo: movedTo(database),
    tables: [...queries.keys()],
    count: ({ name }) => database.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number,
    rows: (table) =>
      database
        .prepare(queries.get(table)?.sql ?? '')
        .raw()
        .iterate() as Iterable<readonly ExportedValue[]>,
    markMoved(target) {
      storeMovedTo(database, target)
      database.exec('COMMIT')
      // The record is durable in the log too.
      try {
        database.pragma('wal_checkpoint(TRUNCATE)')
      } catch {}
    },
    close() {
      database.close()
      release()
    },
  }
}

const metaOf = (database: Database.Database, name: string): string | undefined =>
  database.prepare('SELECT value FROM meta WHERE name = ?').pluck().get(name) as string | undefined

const missing = (path: string): StartError =>
  new StartError('config-invalid', {
    message: `The file ${path} does not exist or is empty.`,
    hint: 'Name the database file of the server, which is storage.path in its configuration.',
  })

const outdated = (path: string): StartError =>
  new StartError('migration-failed', {
    message: `The database ${path} has pending migrations.`,
    hint: 'Run `perdure migrate up`, and then this command again. Nothing was copied.',
  })

const unclean = (path: string): StartError =>
  new StartError('copy-refused', {
    message: `The database ${path} was not shut down cleanly.`,
    hint: 'Start the server on the file, so that it recovers its runs, stop it with SIGTERM, and run this command again. Nothing was copied.',
  })
