import { inspectDatabase, migrateDatabase } from '@perdure/server-app/admin'
import { type MigrationStatus, migrate, migrationStatus, type SchemaChange } from '@perdure/sqlite'
import type { Call } from '../call.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { storageFile } from '../config/storage-file.ts'
import { validConfig } from '../config/valid-config.ts'

export interface MigrateFlags {
  readonly dryRun?: boolean
}

export async function migrateStatusCommand(call: Call): Promise<void> {
  const database = databaseOf(await call.config())
  if (database !== undefined) return show(call, { path: database.name, status: await database.inspect() })
  const { path, encryption } = await storageFile(call)
  show(call, { path, status: await migrationStatus(path, { encryption }) })
}

/** Fails while a server holds the database. */
export async function migrateUpCommand(call: Call, { dryRun }: MigrateFlags): Promise<void> {
  const database = databaseOf(await call.config())
  if (database !== undefined) {
    return show(call, { path: database.name, status: await (dryRun ? database.inspect() : database.migrate()) })
  }
  const { path, encryption } = await storageFile(call)
  if (dryRun) return show(call, { path, status: await migrationStatus(path, { encryption }) })
  const { change, ...status } = await migrate(path, { encryption })
  show(call, { path, status, change })
}

/** The configured PostgreSQL schema; `undefined` if the storage is a file. */
function databaseOf(loaded: LoadedConfig) {
  const config = validConfig(loaded)
  if (config.storage.kind !== 'postgres') return undefined
  return {
    name: `schema ${config.storage.schema}`,
    inspect: () => inspectDatabase(config, loaded),
    migrate: () => migrateDatabase(config, loaded),
  }
}

interface Shown {
  readonly path: string
  readonly status: MigrationStatus
  /** What this command has changed. */
  readonly change?: SchemaChange | undefined
}

function show(call: Call, { path, status, change }: Shown): void {
  const applied = status.applied.map(({ version, name, appliedAt }) => ({
    version,
    name,
    appliedAt: new Date(appliedAt).toISOString(),
  }))
  const { pending } = status
  const migrated = change?.copy === undefined ? undefined : change
  const lines = [
    path,
    ...applied.map(({ version, name, appliedAt }) => `  applied  ${version}  ${name}  ${appliedAt}`),
    ...pending.map(({ version, name }) => `  pending  ${version}  ${name}`),
    ...(migrated === undefined
      ? []
      : [
          `migrated from schema version ${migrated.from} to ${migrated.to}; ${migrated.copy} has version ${migrated.from}`,
        ]),
    pending.length === 0 ? 'up to date' : `${pending.length} pending; to apply: perdure migrate up`,
  ]
  call.out.document({ path, applied, pending, migrated }, () => `${lines.join('\n')}\n`)
}
