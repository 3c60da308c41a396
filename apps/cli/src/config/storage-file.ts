import { resolve } from 'node:path'
import { storageEncryption } from '@berth/server-app'
import type { Encryption } from '@berth/sqlite'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { validConfig } from './valid-config.ts'

/** The database file that the configuration names, and how it is encrypted. */
export interface StorageFile {
  readonly path: string
  readonly encryption: Encryption | undefined
}

/** @throws a usage error for a database in memory; StartError when its secrets do not resolve */
export async function storageFile(call: Call): Promise<StorageFile> {
  const loaded = await call.config()
  const config = validConfig(loaded)
  const { path } = config.storage
  if (path === ':memory:') throw usageError('storage.path is in memory', 'this command is for a database file')
  return { path, encryption: await storageEncryption(config, loaded) }
}

/** As the caller meant it: relative to where the command was typed. */
export const givenPath = ({ terminal }: Call, path: string): string => resolve(terminal.cwd, path)
