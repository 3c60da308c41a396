import type { Duplex } from 'node:stream'
import type { StorageServerStatus } from '@perdure/ports'
import pg from 'pg'
import type { Copy, Execute } from './connection.ts'
import { copyOut } from './copy-out.ts'
import { type ExpectedServer, requireSameServer } from './hello.ts'
import { codeOf, kindOf, OUTDATED_STATEMENT } from './postgres-error.ts'
import type { ServerHistory } from './server-history.ts'
import type { ServerOptions } from './server-options.ts'
import { clientConfig, toResult } from './session.ts'

export interface ReadPool {
  /** Executes on any connection; once more if the connection was lost. */
  readonly execute: Execute
  /** Like `execute`. Only a few copies are under way at a time, because each holds memory that is freed late. */
  readonly copy: Copy
  counts(): StorageServerStatus['connections']
  close(): Promise<void>
}

const WAIT_MS = 5_000
const MAX_COPIES = 2
const IDLE_MS = 30_000

/** Every connection was in use for the whole time. */
const isPoolBusy = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect')

export interface ReadFrom extends ExpectedServer {
  readonly history: ServerHistory
}

/** With `expected`, connections to a standby or to another server are refused: their content may be older. */
export function createReadPool(options: ServerOptions, size: number, expected?: ReadFrom): ReadPool {
  const pool = new pg.Pool({
    ...clientConfig({ ...options, pipeline: false }, { name: 'reads', planning: 'default' }),
    max: size,
    idleTimeoutMillis: IDLE_MS,
    connectionTimeoutMillis: WAIT_MS,
    verify: expected && verifierOf(expected),
  })
  // A lost idle connection leaves the pool; the next read opens another.
  pool.on('error', () => undefined)

  const copy: Copy = async (statement) => {
    const client = await pool.connect()
    let failure: unknown
    try {
      return await copyOut(client, statement)
    } catch (error) {
      failure = error
      throw error
    } finally {
      client.release(failure !== undefined)
    }
  }

  /** Reads once more if the connection was lost. All connections may have outdated statements; each error closes one. */
  const persistently = async <Result>(read: () => Promise<Result>): Promise<Result> => {
    for (let tries = 1; ; tries++) {
      try {
        return await read()
      } catch (error) {
        const mostTries = codeOf(error) === OUTDATED_STATEMENT ? size + 1 : 2
        if (tries >= mostTries || kindOf(error) !== 'lost' || isPoolBusy(error)) throw error
      }
    }
  }

  return {
    execute: (statement) => persistently(async () => toResult(await pool.query(statement))),
    copy: limited(MAX_COPIES, (statement) => persistently(() => copy(statement))),
    counts: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => pool.end(),
  }
}

/** Checks each new connection before its first read. */
const verifierOf =
  (expected: ReadFrom): NonNullable<pg.PoolConfig['verify']> =>
  (client, done) => {
    const ignore = () => undefined
    client.on('error', ignore)
    verify(client, expected)
      .then(() => done(), done)
      .finally(() => client.off('error', ignore))
  }

async function verify(client: pg.PoolClient, { history, ...expected }: ReadFrom): Promise<void> {
  const execute: Execute = async (statement) => toResult(await client.query(statement))
  await requireSameServer(execute, expected)
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Duplex } }).connection
  await history.accept(execute, {
    isLost: () => stream.destroyed,
    close: () => stream.destroy(new Error('Connection terminated: its server was replaced')),
  })
}

/** Calls beyond the limit wait, in their order, for earlier ones to end. */
function limited(max: number, copy: Copy): Copy {
  const waiting: (() => void)[] = []
  let running = 0
  return async (statement) => {
    if (running === max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await copy(statement)
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
