import { StartError } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from './adapters.ts'
import { loadPostgres } from './open-storage.ts'
import { databaseOf } from './pre-bind.ts'
import { resolveReferences } from './resolve-references.ts'

type DatabaseContext = Pick<ServerOptions, 'configDir' | 'adapters'>

/** The state of a PostgreSQL server and of the configured schema. */
export interface DatabaseInspection {
  /** Version of the PostgreSQL server, such as `16.4`. */
  readonly serverVersion: string
  readonly roundTripMs: number
  /** How far the clock of the database server is ahead of the clock of this process. */
  readonly clockSkewMs: number
  readonly applied: readonly { readonly version: number; readonly name: string; readonly appliedAt: number }[]
  readonly pending: readonly { readonly version: number; readonly name: string }[]
}

/** Reads the state of the configured PostgreSQL database, without changing anything. @throws StartError */
export async function inspectDatabase(
  config: ServerConfig,
  context: DatabaseContext = {},
): Promise<DatabaseInspection> {
  const { adapter, location } = await locate(config, context)
  return adapter.inspectPostgres(location)
}

/** Applies the pending migrations to the configured schema. @throws StartError `storage-locked` while a server uses it */
export async function migrateDatabase(
  config: ServerConfig,
  context: DatabaseContext = {},
): Promise<DatabaseInspection> {
  const { adapter, location } = await locate(config, context)
  return adapter.migratePostgres(location)
}

async function locate(config: ServerConfig, { configDir = process.cwd(), adapters = {} }: DatabaseContext) {
  const fields = ['storage.urlRef', 'storage.tls.caRef']
  const references = await resolveReferences(config, createPlatform(config, configDir, adapters), fields)
  const database = databaseOf(config, references)
  if (database === undefined) {
    throw new StartError('config-invalid', {
      message: 'storage.kind is sqlite: there is no PostgreSQL database',
      hint: 'set storage.kind to postgres',
    })
  }
  const location = { ...database, schema: config.storage.schema }
  return { adapter: await loadPostgres(configDir), location }
}
