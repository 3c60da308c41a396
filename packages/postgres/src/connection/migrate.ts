import { createHash } from 'node:crypto'
import { StartError } from '@perdure/ports'
import type { Migration } from '../migrations/migration.ts'
import type { MigrationState } from '../migrations/migration-state.ts'
import { MIGRATIONS } from '../migrations/migrations.ts'
import type { OpenedSchema } from '../postgres-storage-options.ts'
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
 * @throws StartError `storage-newer-schema`; `node-mismatch` while a server runs that cannot read the new schema;
 *   `migration-failed` when a migration fails or was edited after it was applied.
 */
export async function applyMigrations(session: Session, options: MigrateOptions): Promise<OpenedSchema> {
  const { schema, migrations = MIGRATIONS } = options
  const exists = (await session.execute({ text: SCHEMA_EXISTS, values: [schema] })).rows.length > 0
  if (exists && (await pendingMigrations(session, migrations)).length === 0)
    return { schema, schemaVersion: await versionOf(session), change: undefined }
  await execute(session, `set lock_timeout = ${TURN_MS}; set statement_timeout = ${TURN_MS}`)
  await execute(session, `select pg_advisory_lock(${MIGRATION_LOCK}, hashtext($1))`, [schema])
  try {
    await execute(session, `create schema if not exists "${schema}"`)
    await execute(session, CREATE_TABLE)
    const pending = await pendingMigrations(session, migrations)
    await requireReaders(session, pending)
    for (const migration of pending) await apply(session, migration, options)
    const to = await versionOf(session)
    const change = pending.length === 0 ? undefined : { from: to - pending.length, to }
    return { schema, schemaVersion: to, change }
  } finally {
    await execute(session, `select pg_advisory_unlock(${MIGRATION_LOCK}, hashtext($1))`, [schema])
    await execute(session, 'reset lock_timeout; reset statement_timeout')
  }
}

async function versionOf(session: Session): Promise<number> {
  const { rows } = await session.execute({ text: 'select max(version) as version from schema_migrations', values: [] })
  return (rows[0] as { readonly version: number }).version
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
  if (applied.length > migrations.length) await requireReadable(session, applied.length, migrations.length)
  for (const [index, { version, name, checksum }] of applied.slice(0, migrations.length).entries()) {
    if (checksum !== checksumOf(migrations[index] as Migration)) throw editedError(version, name)
  }
  return migrations.slice(applied.length)
}

/** Names the oldest release whose servers can work with the schema, once a migration has changed it. */
const SET_READER = `insert into meta (name, value) values ('readable_from', $1)
  on conflict (name) do update set value = excluded.value`

/** The first migration that lets servers tell others which schema they can read. */
const NODES_VERSION = 8

/** @throws StartError `storage-newer-schema` unless the newer schema can be used by this release */
async function requireReadable(session: Session, version: number, latest: number): Promise<void> {
  const { rows } = await session.execute({ text: `select value from meta where name = 'readable_from'`, values: [] })
  const [from] = rows as readonly { readonly value: string }[]
  if (from === undefined || Number(from.value) > latest) throw newerError(version, latest)
}

/** @throws StartError `node-mismatch` while a server is running that could not read the migrated schema */
async function requireReaders(session: Session, pending: readonly Migration[]): Promise<void> {
  const [first] = pending
  if (first === undefined || first.version <= NODES_VERSION) return
  const from = Math.max(...pending.map(({ version, readableFrom = version }) => readableFrom))
  const { rows } = await session.execute({ text: OUTDATED, values: [String(from)] })
  const [outdated] = rows as readonly { readonly name: string; readonly version: string }[]
  if (outdated === undefined) return
  throw new StartError('node-mismatch', {
    message: `This release changes the schema in a way that the server ${outdated.name} (version ${outdated.version}) cannot read.`,
    hint: 'Stop the servers of earlier releases first, or upgrade them to the release before this one.',
  })
}

const OUTDATED = `select name, coalesce(version, 'unknown') as version from nodes
  where role = 'member' and lease_until > clock_timestamp()
    and coalesce(schema_version, ${NODES_VERSION - 1}) < $1::integer
  order by started_at`

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
    if (version >= NODES_VERSION) await execute(session, SET_READER, [String(migration.readableFrom ?? version)])
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
