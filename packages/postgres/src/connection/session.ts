import type { Socket } from 'node:net'
import pg from 'pg'
import type { Execute, StatementResult } from './connection.ts'
import { encryptionOf } from './encryption.ts'
import type { ServerOptions } from './server-options.ts'
import { decodeText } from './text-codec.ts'

/** One connection to the server. Statements are executed in the order of the calls. */
export interface Session {
  readonly execute: Execute
  /** Sends what `work` executes in as few packets as possible. */
  together<T>(work: () => T): T
  isLost(): boolean
  close(): Promise<void>
}

/**
 * How a connection plans its statements. `pinned`: the nested loop over an index that sets of rows need, even before the
 * tables have statistics.
 */
export type Planning = 'default' | 'pinned'

export interface ConnectionUse {
  readonly name: string
  readonly planning: Planning
  /** Whether statements may take longer than `statementTimeoutMs`. */
  readonly isPatient?: boolean
  /** Called with the payload of each notification on a channel that the connection listens to. */
  readonly onNotification?: (payload: string) => void
  /** Called with a warning of the server, such as one about a commit that was not replicated. */
  readonly onWarning?: ((message: string) => void) | undefined
}

export async function openSession(options: ServerOptions, use: ConnectionUse): Promise<Session> {
  const client = new pg.Client(clientConfig(options, use))
  let isLost = false
  const lose = () => {
    isLost = true
  }
  client.on('error', lose)
  client.on('end', lose)
  client.on('notification', ({ payload = '' }) => use.onNotification?.(payload))
  client.on('notice', ({ code, message }) => {
    if (code?.startsWith(WARNINGS)) use.onWarning?.(`the database server warned (${code}): ${message}`)
  })
  await client.connect()
  const { stream } = client.connection as unknown as { stream: Socket }

  const send: Execute = async (statement) => toResult(await client.query(statement))

  return {
    execute: options.pipeline ? send : createTurns(send),
    together(work) {
      stream.cork()
      try {
        return work()
      } finally {
        stream.uncork()
      }
    },
    isLost: () => isLost,
    async close() {
      const timer = setTimeout(() => stream.destroy(), CLOSE_MS)
      await client.end().catch(() => undefined)
      clearTimeout(timer)
    },
  }
}

/** Sends a statement when the one before has its result. */
function createTurns(send: Execute): Execute {
  let last: Promise<unknown> = Promise.resolve()
  return (statement) => {
    const result = last.then(() => send(statement))
    last = result.catch(() => undefined)
    return result
  }
}

export const toResult = ({ rows, command, rowCount }: pg.QueryResult): StatementResult => ({
  rows,
  command,
  rowCount: rowCount ?? 0,
})

/** The settings of every connection. */
export function clientConfig(
  options: ServerOptions,
  { name, planning, isPatient = false }: ConnectionUse,
): pg.ClientConfig {
  const { url, ssl } = encryptionOf(options.url, options.ca)
  const settings = {
    search_path: `"${options.schema}"`,
    statement_timeout: String(options.statementTimeoutMs),
    lock_timeout: String(LOCK_TIMEOUT_MS),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
    ...KEEPALIVES,
    ...INDEXED,
    ...(planning === 'pinned' ? PINNED : {}),
  }
  return {
    connectionString: url,
    ssl,
    application_name: `perdure ${name} ${options.schema}`,
    options: Object.entries(settings)
      .map(([setting, value]) => `-c ${setting}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
      .join(' '),
    types: { getTypeParser: parserOf },
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Packets can vanish without an error: then the server's own timeout never arrives.
    ...(isPatient ? {} : { query_timeout: options.statementTimeoutMs + NETWORK_MS }),
    pipeline: options.pipeline,
  } as pg.ClientConfig
}

/** The class of the SQLSTATE of a warning. */
const WARNINGS = '01'

const CONNECT_TIMEOUT_MS = 5_000
const NETWORK_MS = 2_000
const CLOSE_MS = 1_000
const LOCK_TIMEOUT_MS = 5_000

/** A process that is stopped inside a transaction must not hold the lock of the log for longer. */
const IDLE_IN_TRANSACTION_MS = 2_000

/**
 * The server notices within 25 seconds that the machine of a client is gone, and frees what its session locked: by
 * default, the lock of the schema would last for two hours.
 */
const KEEPALIVES = {
  ...{ tcp_keepalives_idle: '10', tcp_keepalives_interval: '5', tcp_keepalives_count: '3' },
  // No keepalive is sent while an answer is not acknowledged.
  tcp_user_timeout: '25000',
}

/** Every statement has an index; without statistics, the planner would read whole tables instead. */
const INDEXED = { jit: 'off', enable_seqscan: 'off' }

const PINNED = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
}

const INT8 = 20
const TEXT = 25
const TEXT_ARRAY = 1009

/** Instants and positions are below 2^53. */
const parserOf = ((oid: number, format?: 'text') => {
  if (oid === INT8) return Number
  if (oid === TEXT) return decodeText
  const parser = pg.types.getTypeParser(oid, format)
  if (oid !== TEXT_ARRAY) return parser
  return (value: string) => (parser(value) as readonly (string | null)[]).map((text) => text && decodeText(text))
}) as typeof pg.types.getTypeParser
