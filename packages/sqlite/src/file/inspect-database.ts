import { existsSync } from 'node:fs'
import { StartError } from '@perdure/ports'
import type Database from 'better-sqlite3'
import { type CommitMark, markOf } from './commit-mark.ts'
import { hasCommitsAfterDamage } from './inspect-wal.ts'
import { pendingMigrations } from './migrate.ts'
import { movedTo } from './moved.ts'
import { type OpenDatabase, openPlain } from './open-database.ts'
import { fileSize } from './private-file.ts'
import {
  corruptError,
  damagedWalError,
  isSqliteError,
  orphanedWalError,
  translateStartError,
  wrongPassphraseError,
} from './sqlite-error.ts'
import type { Synchronous } from './synchronous.ts'

export interface Inspection {
  /**
   * Also reads the WAL, and the whole file if the last server did not shut down cleanly. Set this only when no other
   * process can open the file.
   */
  readonly checkAfterCrash: boolean
  /** How commits are flushed. With `normal`, power loss may tear more than one commit. */
  readonly synchronous?: Synchronous | undefined
  /** Opens the file; by default without encryption. */
  readonly open?: OpenDatabase | undefined
}

export interface Findings {
  /**
   * Whether the last server did not shut down cleanly and the WAL, which such a server leaves, is gone: another program
   * merged it into the file, or it was removed together with the newest commits.
   */
  readonly isLogMissing: boolean
  /** The mark in the database file, if the last server did not shut down cleanly and the WAL is missing or empty. */
  readonly markWithoutLog?: CommitMark | undefined
  /** Where the content of the file was moved; `undefined` if it was not moved. */
  readonly movedTo?: string | undefined
}

/**
 * Inspects the file through a read-only connection before anything may write to it.
 *
 * @throws StartError `storage-corrupt`, `storage-newer-schema`, `migration-failed`, `storage-locked`,
 *   `encryption-passphrase-wrong`, or `config-invalid` for a plain file that should be encrypted. The file is never
 *   changed.
 */
export function inspectDatabase(path: string, inspection: Inspection): Findings {
  const { checkAfterCrash, synchronous = 'full', open = openPlain } = inspection
  // The read-only connection below may create a log.
  const hasLog = existsSync(`${path}-wal`)
  const isLogEmpty = fileSize(`${path}-wal`) === 0
  if (fileSize(path) === 0) {
    if (fileSize(`${path}-wal`) > 0) throw orphanedWalError(path)
    return { isLogMissing: false }
  }
  if (checkAfterCrash && synchronous === 'full' && hasCommitsAfterDamage(path)) throw damagedWalError(path)
  if (open !== openPlain) checkPassphrase(path, open)
  const database = open(path, { readonly: true, fileMustExist: true })
  try {
    if (isForeign(database)) throw corruptError(path)
    pendingMigrations(database)
    const isAfterCrash = checkAfterCrash && !wasShutDownCleanly(database)
    if (isAfterCrash) checkPages(database, path)
    return {
      isLogMissing: isAfterCrash && !hasLog,
      markWithoutLog: isAfterCrash && isLogEmpty ? markOf(database) : undefined,
      movedTo: movedTo(database),
    }
  } catch (error) {
    throw translateStartError(error, path)
  } finally {
    database.close()
  }
}

/** A wrong key fails at the first read, not when the file is opened. */
function checkPassphrase(path: string, open: OpenDatabase): void {
  const failure = readFailure(path, open)
  if (failure === undefined) return
  if (readFailure(path, openPlain) === undefined) throw notEncryptedError(path)
  const isUnreadable = isSqliteError(failure) && failure.code === 'SQLITE_NOTADB'
  throw isUnreadable ? wrongPassphraseError(path, failure) : translateStartError(failure, path)
}

/** Returns the error of a first read, or `undefined` if the read succeeds. */
function readFailure(path: string, open: OpenDatabase): unknown {
  const database = open(path, { readonly: true, fileMustExist: true })
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return undefined
  } catch (error) {
    return error
  } finally {
    database.close()
  }
}

const notEncryptedError = (path: string): StartError =>
  new StartError('config-invalid', {
    message: `Encryption is enabled, but the file ${path} is not encrypted.`,
    hint: 'Encrypt the file as the guide on audit and encryption describes, or set storage.path to a new file. The file was not changed.',
  })

/** Whether the file holds tables, but not those of Perdure. */
function isForeign(database: Database.Database): boolean {
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  return names.length > 0 && !names.includes('schema_migrations')
}

function wasShutDownCleanly(database: Database.Database): boolean {
  const hasMeta = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined
  if (!hasMeta) return true
  return database.prepare("SELECT value FROM meta WHERE name = 'clean_shutdown'").pluck().get() === '1'
}

function checkPages(database: Database.Database, path: string): void {
  const finding = database.pragma('quick_check(1)', { simple: true })
  if (finding !== 'ok') throw corruptError(path, new Error(String(finding)))
}
