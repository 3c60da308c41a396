import { isStorageBusy, StartError } from '@perdure/ports'
import { MIGRATIONS } from '../migrations/migrations.ts'
import type { Execute } from './connection.ts'
import { isPassing, kindOf } from './postgres-error.ts'
import type { Session } from './session.ts'

const OLDEST_SERVER = 140_000

interface Hello {
  readonly version: number
  readonly isStandby: boolean
  readonly encoding: string
  readonly schema: string | null
  readonly synchronousCommit: string
  readonly systemId: string
}

const ask = async (execute: Execute): Promise<Hello> => {
  const { rows } = await execute({
    text: `select current_setting('server_version_num')::int as "version", pg_is_in_recovery() as "isStandby",
      current_setting('server_encoding') as "encoding", current_schema() as "schema",
      current_setting('synchronous_commit') as "synchronousCommit",
      (select system_identifier::text from pg_control_system()) as "systemId"`,
    values: [],
  })
  return rows[0] as Hello
}

/** Checks at the start that the server can hold the data. @throws StartError `config-invalid`, `database-unavailable` */
export async function requireUsableServer(session: Session): Promise<string> {
  const { version, isStandby, encoding, synchronousCommit, systemId } = await ask(session.execute)
  if (version < OLDEST_SERVER) throw unusable('The PostgreSQL server is older than version 14.', 'Upgrade the server.')
  if (isStandby) {
    throw new StartError('database-unavailable', {
      message: 'The PostgreSQL server is a standby and cannot write.',
      hint: 'Use a URL that leads to the primary, or start again after the standby is promoted.',
    })
  }
  if (encoding !== 'UTF8') {
    throw unusable(`The database has the encoding ${encoding}.`, 'Create a database with the encoding UTF8.')
  }
  if (synchronousCommit === 'off') {
    throw unusable(
      'The setting synchronous_commit is off for this role or database: acknowledged writes could be lost.',
      'Set synchronous_commit to on for the role.',
    )
  }
  return systemId
}

/** Connections that stay free for commands, monitoring and other servers. */
const SPARE_CONNECTIONS = 5

/** Checks that the server accepts as many connections as this process may open. @throws StartError `config-invalid` */
export async function requireConnections(session: Session, poolSize: number): Promise<void> {
  const { rows } = await session.execute({
    text: `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "available"`,
    values: [],
  })
  const { available } = rows[0] as { available: number }
  if (available >= poolSize + SPARE_CONNECTIONS) return
  throw unusable(
    `The PostgreSQL server accepts ${available} connections, too few for a pool of ${poolSize} and ${SPARE_CONNECTIONS} others.`,
    'Raise max_connections of the server, or lower storage.poolSize.',
  )
}

/** What the storage found at its start. */
export interface ExpectedServer {
  readonly systemId: string
  readonly schema: string
}

/** Checks that a new connection leads to the same, writable server and to the schema of this storage. */
export async function requireSameServer(execute: Execute, { systemId, schema }: ExpectedServer): Promise<void> {
  const found = await ask(execute)
  if (!found.isStandby && found.systemId === systemId && found.schema === schema) return
  throw Object.assign(new Error('the URL leads to a standby, or to another server than at the start'), {
    code: 'ENOTPRIMARY',
  })
}

/** Checks that connections use the schema: a connection pooler may drop their settings. */
export async function requireSchema(session: Session, schema: string): Promise<void> {
  const { rows } = await session.execute({
    text: `select current_schema() as "schema", (select count(*) from schema_migrations)::int as "migrations"`,
    values: [],
  })
  const { schema: found, migrations } = rows[0] as { schema: string | null; migrations: number }
  if (found === schema && migrations === MIGRATIONS.length) return
  throw unusable(
    `Connections use the schema ${found} instead of ${schema}.`,
    'If a connection pooler drops the settings of connections, set search_path for the role.',
  )
}

/** Translates an error of the start into a `StartError`. Returns any other error unchanged. */
export function translateStartError(thrown: unknown): unknown {
  const error = isStorageBusy(thrown) ? thrown.cause : thrown
  if (kindOf(error) === 'foreign') return thrown
  const message = error instanceof Error ? messageOf(error) : String(error)
  if (isPassing(error)) {
    return new StartError('database-unavailable', {
      message: `The PostgreSQL database cannot be reached: ${message}`,
      hint: 'Check that the server runs and that the URL leads to it, and start again.',
      cause: error,
    })
  }
  return new StartError('config-invalid', {
    message: `The PostgreSQL database cannot be used: ${message}`,
    hint: 'Check the URL, that the server runs, and that the role may create and change tables.',
    cause: error,
  })
}

/** An error of several addresses has no message of its own. */
const messageOf = (error: Error): string =>
  error instanceof AggregateError && error.message === '' ? error.errors.map(String).join(', ') : error.message

const unusable = (message: string, hint: string): StartError => new StartError('config-invalid', { message, hint })
