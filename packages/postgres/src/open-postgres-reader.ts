import { perdureError, StartError, type Storage } from '@perdure/ports'
import { createStores, runLater } from '@perdure/storage'
import { createConnection, createQueryCache } from './connection/connection.ts'
import { translateStartError } from './connection/hello.ts'
import { migrationsOf } from './connection/migrate.ts'
import { createReadPool } from './connection/read-pool.ts'
import { serverOptions } from './connection/server-options.ts'
import { openSession } from './connection/session.ts'
import { requireWhole } from './import/copy-mark.ts'
import type { PostgresLocation } from './inspect-postgres.ts'

const CONNECTIONS = 2

/**
 * Opens the ports of an existing schema for reading, while a server may be using it. Changes nothing; every commit fails.
 *
 * @throws StartError also when the schema is missing, has pending migrations or holds an unfinished copy
 */
export async function openPostgresReader(location: PostgresLocation): Promise<Storage> {
  const server = serverOptions(location)
  try {
    const session = await openSession(server, { name: 'reader', planning: 'default' })
    try {
      const { pending } = await migrationsOf(session)
      if (pending.length > 0) throw outdated(server.schema)
      await requireWhole(session.execute, server.schema)
    } finally {
      await session.close()
    }
  } catch (error) {
    throw error instanceof StartError ? error : translateStartError(error)
  }
  const reads = createReadPool(server, CONNECTIONS)
  const db = createConnection(reads.execute, createQueryCache(), reads.copy)
  const stores = createStores({
    commit: () => Promise.reject(perdureError('storage-failed', { message: 'The storage was opened for reading.' })),
    read: (program, ...args) => runLater(program(db.db, ...args)),
  })
  return { ...stores, status: async () => ({ writable: false, walBytes: 0, dbBytes: 0 }), close: reads.close }
}

const outdated = (schema: string): StartError =>
  new StartError('migration-failed', {
    message: `the schema ${schema} is missing or has pending migrations`,
    hint: 'run perdure migrate up, or start the server once',
  })
