import { createHash } from 'node:crypto'
import { StartError } from '@perdure/ports'
import type { Migration } from '../migrations/migration.ts'
import type { MigrationState } from '../migrations/migration-state.ts'
import { MIGRATIONS } from '../migrations/migrations.ts'
import type { Session } from './session.ts'

export interface MigrateOptions {
  readonly schema: string
  readonly now: () => number
  readonly migrations?: readonly Migration[] | undefined
}

/**
 * Creates the schema and applies the pending migrations, each in one transaction with its row in `schema_migrations`.
 * Processes that start together take turns: one migrates, the others find nothing to do.
 *
 * @throws StartError `storage-newer-schema`; `migration-failed` when a migration fails or was edited after it was
 *   applied.
 */
export async function applyMigrations(session: Session, options: MigrateOptions): Promise<void> {
  const { schema, migrations = MIGRATIONS } = options
  const exists = (await session.execute({ text: SCHEMA_EXISTS, values: [schema] })).rows.length > 0
  if (exists && (await pendingMigrations(session, migrations)).length === 0) return
  await execute(session, `set lock_timeout = ${TURN_MS}; set statement_timeout = ${TURN_MS}`)
  await execute(session, `select pg_advisory_lock(${MIGRATION_LOCK}, hashtext($1))`, [schema])
  try {
    await execute(session, `create schema if not exists "${schema}"`)
    await execute(session, CREATE_TABLE)
    for (const migration of await pendingMigrations(session, migrations)) await apply(session, migration, options)
  } finally {
    await execute(session, `select pg_advisory_unlock(${MIGRATION_LOCK}, hashtext($1))`, [schema])
    await execute(session, 'reset lock_timeout; reset statement_timeout')
  }
}

/** The applied and the pending migrations of the schema. @throws StartError as `applyMigrations` */
export async function migrationsOf(session: Session): Promise<MigrationState> {
  const pending = (await pendingMigrations(session)).map(({ version, name }) => ({ version, name }))
  if (pending.length === MIGRATIONS.length) return { applied: [], pending }
  const { rows } = await session.execute({
    text: 'select version, name, applied_at as "appliedAt" from schema_migrations order by version',
    values: [],
  })
  return { applied: rows as MigrationState['applied'], pending }
}

/** Compares the applied migrations with those of this release and returns the pending ones. @throws StartError */
async function pendingMigrations(
  session: Session,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly Migration[]> {
  const table = await session.execute({ text: `select to_regclass('schema_migrations') as name`, values: [] })
  if ((table.rows[0] as { name: string | null }).name === null) return migrations
  const { rows } = await session.execute({
    text: 'select version, name, checksum from schema_migrations order by version',
    values: [],
  })
  const applied = rows as readonly MigrationRow[]
  if (applied.length > migrations.length) throw newerError(applied.length, migrations.length)
  for (const [index, { version, name, checksum }] of applied.entries()) {
    if (checksum !== checksumOf(migrations[index] as Migration)) throw editedError(version, name)
  }
  return migrations.slice(applied.length)
}

interface MigrationRow {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

/** How long a process waits for another one that migrates. */
const TURN_MS = 60_000

/** The first key of the advisory lock of migrations; the second is the hash of the schema. */
const MIGRATION_LOCK = 0x62_65_72_6d

const SCHEMA_EXISTS = 'select 1 from pg_namespace where nspname = $1'

const CREATE_TABLE = `
create table if not exists schema_migrations (
  version    integer primary key,
  name       text not null,
  checksum   text not null,
  applied_at bigint not null
)`

async function apply(session: Session, migration: Migration, { now }: MigrateOptions): Promise<void> {
  const { version, name } = migration
  try {
    await execute(session, 'begin')
    await execute(session, migration.sql)
    await execute(session, 'insert into schema_migrations values ($1, $2, $3, $4)', [
      version,
      name,
      checksumOf(migration),
      now(),
    ])
    await execute(session, 'commit')
  } catch (error) {
    await execute(session, 'rollback').catch(() => undefined)
    throw new StartError('migration-failed', {
      message: `Migration ${version} (${name}) failed and was rolled back: ${messageOf(error)}`,
      hint: 'Fix the cause and start again. Earlier migrations stay applied.',
      cause: error,
    })
  }
}

const execute = (session: Session, text: string, values: unknown[] = []) => session.execute({ text, values })

const checksumOf = ({ sql }: Migration): string => createHash('sha256').update(sql).digest('hex')

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const newerError = (version: number, latest: number): StartError =>
  new StartError('storage-newer-schema', {
    message: `The database has schema version ${version}; this release supports versions up to ${latest}.`,
    hint: 'Start the release that wrote the database, or restore a dump that was made before it was migrated.',
  })

const editedError = (version: number, name: string): StartError =>
  new StartError('migration-failed', {
    message: `Migration ${version} (${name}) differs from the migration that was applied to this database.`,
    hint: 'Install an unmodified release: released migrations never change.',
  })
