import { StartError } from '@perdure/ports'
import { createConnection, createQueryCache } from './connection/connection.ts'
import { requireUsableServer, translateStartError } from './connection/hello.ts'
import { applyMigrations, migrationsOf } from './connection/migrate.ts'
import { serverOptions } from './connection/server-options.ts'
import { openSession, type Session } from './connection/session.ts'
import { lockedError, takeSchemaLock } from './host/schema-lock.ts'
import type { MigrationState } from './migrations/migration-state.ts'
import type { PostgresStorageOptions } from './postgres-storage-options.ts'

export type PostgresLocation = Pick<PostgresStorageOptions, 'url' | 'ca' | 'schema'>

export interface PostgresInspection extends MigrationState {
  /** Version of the PostgreSQL server, such as `16.4`. */
  readonly serverVersion: string
  readonly roundTripMs: number
  /** How far the clock of the database server is ahead of the clock of this process. */
  readonly clockSkewMs: number
}

/** Reads the state of the server and of the schema, without changing anything. @throws StartError */
export const inspectPostgres = (location: PostgresLocation): Promise<PostgresInspection> =>
  withSession(location, async (session) => {
    await requireUsableServer(session)
    return inspect(session)
  })

export interface MigratePostgresOptions extends PostgresLocation {
  /** Clock for the timestamps of applied migrations, in epoch milliseconds. */
  readonly now?: (() => number) | undefined
}

/**
 * Applies the pending migrations without starting a server.
 *
 * @throws StartError `storage-locked` while a server uses the schema
 */
export const migratePostgres = ({ now = Date.now, ...location }: MigratePostgresOptions): Promise<PostgresInspection> =>
  withSession(location, async (session, schema) => {
    await requireUsableServer(session)
    // The lock belongs to the schema, so the schema must exist.
    await session.execute({ text: `create schema if not exists "${schema}"`, values: [] })
    if (!(await takeSchemaLock(createConnection(session.execute, createQueryCache()), 'sole')))
      throw lockedError('sole')
    await applyMigrations(session, { schema, now })
    return inspect(session)
  })

async function inspect(session: Session): Promise<PostgresInspection> {
  const startedAt = performance.now()
  const { rows } = await session.execute({
    text: `select current_setting('server_version') as "serverVersion",
      (extract(epoch from clock_timestamp()) * 1000)::double precision as "now"`,
    values: [],
  })
  const roundTripMs = performance.now() - startedAt
  const { serverVersion, now } = rows[0] as { serverVersion: string; now: number }
  const clockSkewMs = now - (Date.now() - roundTripMs / 2)
  return { serverVersion, roundTripMs, clockSkewMs, ...(await migrationsOf(session)) }
}

async function withSession<T>(location: PostgresLocation, work: (session: Session, schema: string) => Promise<T>) {
  const server = serverOptions(location)
  try {
    const session = await openSession(server, { name: 'inspect', planning: 'default', isPatient: true })
    try {
      return await work(session, server.schema)
    } finally {
      await session.close()
    }
  } catch (error) {
    throw error instanceof StartError ? error : translateStartError(error)
  }
}
