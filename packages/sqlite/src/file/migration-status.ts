import { MIGRATIONS } from '../migrations/migrations.ts'
import type { AppliedMigration, SchemaChange } from './applied-migration.ts'
import type { Encryption } from './encryption.ts'
import { inspectDatabase } from './inspect-database.ts'
import { appliedMigrations, applyMigrations, pendingMigrations } from './migrate.ts'
import { requireNotMoved } from './moved.ts'
import { databaseOpener } from './open-database.ts'
import { withOwnedFile } from './owned-file.ts'
import { createPrivateFile, fileSize } from './private-file.ts'
import { requireSingleName } from './single-name.ts'
import { translateStartError } from './sqlite-error.ts'

export interface MigrationOptions {
  readonly encryption?: Encryption | undefined
  /** Clock for the timestamps of applied migrations, in epoch milliseconds. */
  readonly now?: (() => number) | undefined
}

export interface MigrationStatus {
  readonly applied: readonly AppliedMigration[]
  readonly pending: readonly { readonly version: number; readonly name: string }[]
}

/**
 * Lists the applied and pending migrations of the file. Read-only; does not create a missing file.
 *
 * @throws StartError `storage-moved` and others
 */
export async function migrationStatus(
  path: string,
  { encryption }: Pick<MigrationOptions, 'encryption'> = {},
): Promise<MigrationStatus> {
  requireSingleName(path)
  if (fileSize(path) === 0) return { applied: [], pending: MIGRATIONS.map(toSummary) }
  const open = await databaseOpener(encryption)
  requireNotMoved(path, inspectDatabase(path, { checkAfterCrash: false, open }).movedTo)
  const database = open(path, { readonly: true, fileMustExist: true })
  try {
    return { applied: appliedMigrations(database), pending: pendingMigrations(database).map(toSummary) }
  } finally {
    database.close()
  }
}

export interface MigrateFileOptions extends MigrationOptions {
  /** Whether a database that holds data is copied first. False for a file that is a copy. Default: true. */
  readonly keepsCopy?: boolean | undefined
}

export interface Migrated extends MigrationStatus {
  /** `undefined` if no migration was pending. */
  readonly change: SchemaChange | undefined
}

/** Applies the pending migrations without starting a server. Holds the lease meanwhile. @throws StartError */
export async function migrate(
  path: string,
  { encryption, now = Date.now, keepsCopy = true }: MigrateFileOptions = {},
): Promise<Migrated> {
  return withOwnedFile(path, encryption, (file) => {
    createPrivateFile(file.path)
    const { database } = file.open()
    try {
      const change = applyMigrations(database, { path: keepsCopy ? file.path : undefined, now })
      return { applied: appliedMigrations(database), pending: [], change }
    } finally {
      database.close()
    }
  })
}

/** The schema version of a database file, and the newest one that this release knows. */
export interface SchemaVersion {
  readonly version: number
  readonly newest: number
}

/** Reads the schema version of a file, which may have been moved away. Read-only. @throws StartError */
export async function schemaVersion(
  path: string,
  { encryption }: Pick<MigrationOptions, 'encryption'> = {},
): Promise<SchemaVersion> {
  const open = await databaseOpener(encryption)
  try {
    const database = open(path, { readonly: true, fileMustExist: true })
    try {
      return { version: database.pragma('user_version', { simple: true }) as number, newest: MIGRATIONS.length }
    } finally {
      database.close()
    }
  } catch (error) {
    throw translateStartError(error, path)
  }
}

const toSummary = ({ version, name }: { readonly version: number; readonly name: string }) => ({ version, name })
