import pg from 'pg'
import type { Execute } from './connection.ts'
import { kindOf } from './postgres-error.ts'
import type { ServerOptions } from './server-options.ts'
import { clientConfig, toResult } from './session.ts'

export interface ReadPool {
  /** Executes on any connection; once more if the connection was lost. */
  readonly execute: Execute
  counts(): { readonly open: number; readonly waiting: number }
  close(): Promise<void>
}

const WAIT_MS = 5_000
const IDLE_MS = 30_000

/** Every connection was in use for the whole time. */
const isPoolBusy = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect')

export function createReadPool(options: ServerOptions, size: number): ReadPool {
  const pool = new pg.Pool({
    ...clientConfig({ ...options, pipeline: false }, { name: 'reads', planning: 'default' }),
    max: size,
    idleTimeoutMillis: IDLE_MS,
    connectionTimeoutMillis: WAIT_MS,
  })
  // A lost idle connection leaves the pool; the next read opens another.
  pool.on('error', () => undefined)

  const execute: Execute = async (statement) => toResult(await pool.query(statement))
  return {
    async execute(statement) {
      try {
        return await execute(statement)
      } catch (error) {
        if (kindOf(error) !== 'lost' || isPoolBusy(error)) throw error
        return execute(statement)
      }
    },
    counts: () => ({ open: pool.totalCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  }
}
