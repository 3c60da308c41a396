import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { StartError } from '@perdure/ports'
import type Database from 'better-sqlite3'
import type { Migration } from '../migrations/migration.ts'
import { MIGRATIONS } from '../migrations/migrations.ts'
import type { AppliedMigration, SchemaChange } from './applied-migration.ts'
import { createPrivateFile, fileSize } from './private-file.ts'
import { sha256OfFile } from './replace-file.ts'
import { corruptError } from './sqlite-error.ts'

export interface MigrateOptions {
  /** The file to copy before anything changes; absent for a database in memory, and for a copy. */
  readonly path?: string | undefined
  readonly now: () => number
  readonly migrations?: readonly Migration[] | undefined
}

/**
 * Applies the pending migrations, each in one transaction together with its row in `schema_migrations` and
 * `user_version`. A database that holds data is first copied to `<path>.before-<version>`, or with a number behind that
 * name if there is another copy already. The copy is kept, unless the first migration fails: then nothing has changed.
 *
 * @returns `undefined` if no migration is pending
 * @throws StartError like `pendingMigrations`; `migration-failed` when a migration fails.
 */
export function applyMigrations(database: Database.Database, options: MigrateOptions): SchemaChange | undefined {
  const { path, now, migrations = MIGRATIONS } = options
  const pending = pendingMigrations(database, migrations)
  const first = pending[0]
  if (first === undefined) return undefined
  const kept =
    path !== undefined && first !== migrations[0] ? keepCopy(database, `${path}.before-${first.version}`) : undefined
  for (const migration of pending) {
    try {
      applyMigration(database, migration, now)
    } catch (error) {
      const isUnchanged = migration === first
      if (isUnchanged && kept?.isNew) rmSync(kept.copy, { force: true })
      throw failedError(migration, error, isUnchanged ? undefined : kept?.copy)
    }
  }
  return { from: first.version - 1, to: migrations.length, copy: kept?.copy }
}

/**
 * Compares the applied migrations with the migrations of this release and returns the pending ones. Read-only.
 *
 * @throws StartError `storage-newer-schema`; `storage-corrupt` when no release can have written the recorded
 *   migrations; `migration-failed` when a migration was edited after it was applied.
 */
export function pendingMigrations(
  database: Database.Database,
  migrations: readonly Migration[] = MIGRATIONS,
): readonly Migration[] {
  const latest = migrations.length
  const { version, applied } = database.transaction(() => ({
    version: database.pragma('user_version', { simple: true }) as number,
    applied: readApplied(database),
  }))()
  if (Math.max(version, applied.at(-1)?.version ?? 0) > latest) throw newerError(database, version, latest)
  if (version !== applied.length) {
    throw damagedError(database, `schema version ${version}, but ${applied.length} recorded migrations`)
  }
  for (const [index, { version, name, checksum }] of applied.entries()) {
    const known = migrations[index] as Migration
    if (checksum === checksumOf(known) && version === known.version) continue
    if (version !== known.version || isDamaged(checksum, checksumOf(known))) {
      throw damagedError(database, `the record of migration ${known.version} was altered`)
    }
    throw editedError(version, name)
  }
  return migrations.slice(applied.length)
}

/**
 * An edited migration changes almost every digit of its checksum. If only a few digits differ, the checksum is damaged.
 */
function isDamaged(checksum: string, known: string): boolean {
  const differing = [...known].filter((digit, index) => digit !== checksum[index]).length
  return !/^[0-9a-f]{64}$/.test(checksum) || differing < known.length / 2
}

export const appliedMigrations = (database: Database.Database): readonly AppliedMigration[] =>
  readApplied(database).map(({ version, name, applied_at }) => ({ version, name, appliedAt: applied_at }))

interface MigrationRow {
  readonly version: number
  readonly name: string
  readonly checksum: string
  readonly applied_at: number
}

const CREATE_TABLE = `
CREATE TABLE IF NOT EXISTS schema_migrations (
  version    INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  checksum   TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`

function applyMigration(database: Database.Database, migration: Migration, now: () => number): void {
  const { version, name } = migration
  const apply = database.transaction(() => {
    database.exec(CREATE_TABLE)
    const inserted = database
      .prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, ?) ON CONFLICT (version) DO NOTHING')
      .run(version, name, checksumOf(migration), now())
    if (inserted.changes === 0) return // another process applied the migration first
    database.exec(migration.sql)
    database.pragma(`user_version = ${version}`)
  })
  apply.immediate()
}

const failedError = ({ version, name }: Migration, error: unknown, copy: string | undefined): StartError =>
  new StartError('migration-failed', {
    message: `Migration ${version} (${name}) failed and was rolled back: ${messageOf(error)}`,
    hint: `Fix the cause and start again. Earlier migrations stay applied.${copy === undefined ? '' : ` The copy ${copy} has the schema from before them.`}`,
    cause: error,
  })

interface KeptCopy {
  readonly copy: string
  /** False if an earlier attempt has left the same copy. */
  readonly isNew: boolean
}

/**
 * Writes a consistent copy under a temporary name, flushes it, and renames it to the first name that is free: `target`,
 * or `target` with a number. Never replaces a copy, which may hold what no other file holds.
 */
function keepCopy(database: Database.Database, target: string): KeptCopy {
  const temporary = `${target}.tmp`
  try {
    rmSync(temporary, { force: true })
    createPrivateFile(temporary)
    database.prepare('VACUUM INTO ?').run(temporary)
    const file = openSync(temporary, 'r')
    fsyncSync(file)
    closeSync(file)
    let copy = target
    for (let number = 2; existsSync(copy); number++) {
      if (isSameFile(copy, temporary)) {
        rmSync(temporary)
        return { copy, isNew: false }
      }
      copy = `${target}.${number}`
    }
    renameSync(temporary, copy)
    return { copy, isNew: true }
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new StartError('migration-failed', {
      message: `Copying the database to ${target} before a migration failed: ${messageOf(error)}`,
      hint: 'Free space on the disk that holds the database and start again. Nothing was migrated.',
      cause: error,
    })
  }
}

/** A start that is killed and repeated makes the same copy again. */
const isSameFile = (one: string, other: string): boolean =>
  fileSize(one) === fileSize(other) && sha256OfFile(one) === sha256OfFile(other)

function readApplied(database: Database.Database): readonly MigrationRow[] {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get()
  if (table === undefined) return []
  return database.prepare('SELECT * FROM schema_migrations ORDER BY version').all() as MigrationRow[]
}

const checksumOf = ({ sql }: Migration): string => createHash('sha256').update(sql).digest('hex')

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const newerError = ({ name }: Database.Database, version: number, latest: number): StartError =>
  new StartError('storage-newer-schema', {
    message: `The database has schema version ${version}; this release supports versions up to ${latest}.`,
    hint: `Start the release that wrote the database, or restore the copy that was made before it was migrated: perdure restore ${name}.before-${latest + 1}`,
  })

const damagedError = ({ name }: Database.Database, what: string): StartError => corruptError(name, new Error(what))

const editedError = (version: number, name: string): StartError =>
  new StartError('migration-failed', {
    message: `Migration ${version} (${name}) differs from the migration that was applied to this database.`,
    hint: 'Install an unmodified release: released migrations never change.',
  })
