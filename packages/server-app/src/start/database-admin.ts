import { StartError } from '@perdure/ports'
import type { PostgresInspection, PostgresLocation } from '@perdure/postgres'
import type { ServerConfig } from '@perdure/protocol'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from './adapters.ts'
import { loadPostgres } from './open-storage.ts'
import { databaseOf } from './pre-bind.ts'
import { resolveReferences } from './resolve-references.ts'

type DatabaseContext = Pick<ServerOptions, 'configDir' | 'adapters'>

export type { PostgresInspection as DatabaseInspection } from '@perdure/postgres'

/** Reads the state of the configured PostgreSQL database, without changing anything. @throws StartError */
export async function inspectDatabase(
  config: ServerConfig,
  context: DatabaseContext = {},
): Promise<PostgresInspection> {
  const { adapter, location } = await locate(config, context)
  return adapter.inspectPostgres(location)
}

/** Applies the pending migrations to the configured schema. @throws StartError `storage-locked` while a server uses it */
export async function migrateDatabase(
  config: ServerConfig,
  context: DatabaseContext = {},
): Promise<PostgresInspection> {
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
  const location: PostgresLocation = { ...database, schema: config.storage.schema }
  return { adapter: await loadPostgres(configDir), location }
}
