import { resolve } from 'node:path'
import { auditEncryption, storageEncryption } from '@perdure/server-app'
import type { Encryption } from '@perdure/sqlite'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import type { LoadedConfig } from './load-config.ts'
import { validConfig } from './valid-config.ts'

/** The database file that the configuration names, and how it is encrypted. */
export interface StorageFile {
  readonly path: string
  readonly encryption: Encryption | undefined
}

/** @throws a usage error for a database in memory; StartError when its secrets do not resolve */
export const storageFile = async (call: Call): Promise<StorageFile> => mainFile(await call.config())

/** The database file, and the audit log where it is a file of its own. @throws as `storageFile` */
export async function storageFiles(
  call: Call,
): Promise<{ readonly main: StorageFile; readonly audit: StorageFile | undefined }> {
  const loaded = await call.config()
  const { audit } = validConfig(loaded)
  const encryption = await auditEncryption(validConfig(loaded), loaded)
  return {
    main: await mainFile(loaded),
    audit: audit.enabled ? { path: resolve(loaded.configDir, audit.path), encryption } : undefined,
  }
}

async function mainFile(loaded: LoadedConfig): Promise<StorageFile> {
  const config = validConfig(loaded)
  const { path } = config.storage
  if (path === ':memory:') throw usageError('storage.path is in memory', 'this command is for a database file')
  return { path, encryption: await storageEncryption(config, loaded) }
}

/** As the caller meant it: relative to where the command was typed. */
export const givenPath = ({ terminal }: Call, path: string): string => resolve(terminal.cwd, path)
