import { StartError, type Storage } from '@perdure/ports'
import { createStores } from '@perdure/storage'
import { type Connection, openReadConnection } from './file/connection.ts'
import type { Encryption } from './file/encryption.ts'
import { inspectDatabase } from './file/inspect-database.ts'
import { pendingMigrations } from './file/migrate.ts'
import { databaseOpener } from './file/open-database.ts'
import { fileSize } from './file/private-file.ts'
import { requireSingleName } from './file/single-name.ts'
import { translateStartError } from './file/sqlite-error.ts'
import { createInlineHost } from './host/inline-host.ts'

export interface SqliteReaderOptions {
  readonly path: string
  readonly encryption?: Encryption | undefined
}

/**
 * Opens the ports of an existing database for reading, while a server may be using it. Takes no lease and changes
 * nothing; every commit fails.
 *
 * @throws StartError also when the file is missing or has pending migrations
 */
export async function openSqliteReader({ path, encryption }: SqliteReaderOptions): Promise<Storage> {
  const open = await databaseOpener(encryption)
  if (fileSize(path) === 0) throw missing(path)
  requireSingleName(path)
  inspectDatabase(path, { checkAfterCrash: false, open })
  try {
    const db = openReadConnection(path, open)
    if (pendingMigrations(db.database).length > 0) throw closing(db, outdated(path))
    const host = createInlineHost(db, { closeConnection: ({ database }) => void database.close() })
    const status = async () => ({ writable: false, walBytes: fileSize(`${path}-wal`), dbBytes: fileSize(path) })
    return { ...createStores(host), status, close: host.close }
  } catch (error) {
    throw translateStartError(error, path)
  }
}

function closing({ database }: Connection, error: StartError): StartError {
  database.close()
  return error
}

const missing = (path: string): StartError =>
  new StartError('config-invalid', {
    message: `storage.path: the file ${path} does not exist or is empty`,
    hint: 'set storage.path to the database of the server',
  })

const outdated = (path: string): StartError =>
  new StartError('migration-failed', {
    message: `the database ${path} has pending migrations`,
    hint: 'before an upgrade, use perdure upgrade --check, which migrates a copy; otherwise run perdure migrate up, or start the server once',
  })
