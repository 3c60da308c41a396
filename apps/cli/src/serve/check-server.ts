import { existsSync } from 'node:fs'
import { StartError } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { inspectDatabase, storageEncryption } from '@perdure/server-app/admin'
import { migrationStatus } from '@perdure/sqlite'
import { checkWritable } from '../doctor/check-storage.ts'
import type { Terminal } from '../terminal.ts'
import { prepareServer, type ServerSetup } from './prepare-server.ts'

/** Runs every check that a server start makes before it opens the storage or a port. @throws StartError */
export async function checkServer(terminal: Terminal, setup: ServerSetup): Promise<void> {
  const { server } = await prepareServer(terminal, setup)
  await server.check()
  const isFile = setup.config.storage.kind === 'sqlite' && setup.loaded.adapters.storage === undefined
  if (isFile) await requireWritable(setup.config)
  else if (setup.config.storage.kind === 'postgres') await inspectDatabase(setup.config, setup.loaded)
}

/**
 * Checks that this release can open the database file, if there is one: that it is a database, and not one of a newer
 * release. Changes nothing. @throws StartError
 */
export async function checkStoredSchema({ config, loaded }: ServerSetup): Promise<void> {
  const { kind, path } = config.storage
  if (kind !== 'sqlite' || loaded.adapters.storage !== undefined || !existsSync(path)) return
  await migrationStatus(path, { encryption: await storageEncryption(config, loaded) })
}

async function requireWritable(config: ServerConfig): Promise<void> {
  const { status, message, fix } = await checkWritable(config)
  if (status === 'fail') {
    throw new StartError('config-invalid', { message: `storage.path: ${message}`, hint: fix ?? 'fix storage.path' })
  }
}
