import { resolve } from 'node:path'
import { auditEncryption, filesDirectory, storageEncryption } from '@perdure/server-app/admin'
import type { Encryption } from '@perdure/sqlite'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import type { LoadedConfig } from './load-config.ts'
import { validConfig } from './valid-config.ts'

/** The configured database file and its encryption. */
export interface StorageFile {
  readonly path: string
  readonly encryption: Encryption | undefined
}

/** @throws a usage error for an in-memory database and for PostgreSQL; StartError if its secrets do not resolve */
export const storageFile = async (call: Call): Promise<StorageFile> => mainFile(await call.config())

export interface StorageFiles {
  readonly main: StorageFile
  readonly audit: StorageFile | undefined
  /** The folder with the contents of large files; `undefined` if a bucket holds them. */
  readonly files: string | undefined
}

/** The database file and, if the audit is enabled, the audit log. @throws as `storageFile` */
export async function storageFiles(call: Call): Promise<StorageFiles> {
  const loaded = await call.config()
  const main = await mainFile(loaded)
  const { audit, storage } = validConfig(loaded)
  const encryption = await auditEncryption(validConfig(loaded), loaded)
  return {
    main,
    files: storage.files.s3.bucket === undefined ? filesDirectory(storage, loaded.configDir) : undefined,
    audit: audit.enabled ? { path: resolve(loaded.configDir, audit.path), encryption } : undefined,
  }
}

async function mainFile(loaded: LoadedConfig): Promise<StorageFile> {
  const config = validConfig(loaded)
  const { kind, path, schema } = config.storage
  if (kind === 'postgres') {
    throw usageError(
      'storage.kind is postgres: this command works on a database file',
      `use the tools of PostgreSQL: pg_dump --schema=${schema} --format=custom, or point-in-time recovery; perdure migrate and perdure audit verify work with both`,
    )
  }
  if (path === ':memory:') throw usageError('storage.path is :memory:', 'set storage.path to a file')
  return { path, encryption: await storageEncryption(config, loaded) }
}

/** Resolves a path argument from the working directory of the command. */
export const givenPath = ({ terminal }: Call, path: string): string => resolve(terminal.cwd, path)
