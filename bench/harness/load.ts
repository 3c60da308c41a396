import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pinned } from './cores.ts'

/** Requests that a separate process sends. Each connection sends its next request when the previous one is answered. */
export interface Load {
  readonly port: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  readonly durationMs: number
  readonly warmUpMs: number
  /** Sends an `Idempotency-Key`: a new key with every request unless `repeatKey` is set. */
  readonly keyed: boolean
  readonly keyPrefix: string
  readonly firstKey: number
  readonly repeatKey: boolean
  /** Number of keys that `repeatKey` cycles through. */
  readonly keys: number
  /** Sends a random UUID as the key of each request, as clients do, instead of keys in order. */
  readonly randomKeys: boolean
  /** CPUs that the load may use, as for `taskset -c`; every CPU when missing. */
  readonly cpus?: string | undefined
}

export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly statuses: Readonly<Record<string, number>>
  readonly nextKey: number
}

const DEFAULTS = {
  method: 'POST',
  headers: {},
  body: '',
  keyed: false,
  keyPrefix: 'k',
  firstKey: 0,
  repeatKey: false,
  keys: 1_000,
  randomKeys: false,
} as const

/** @throws Error if an answer is not 2xx: fast error answers would distort the result */
export async function sendLoad(
  load: Partial<Load> & Pick<Load, 'port' | 'path' | 'connections' | 'durationMs' | 'warmUpMs'>,
): Promise<LoadResult> {
  const generator = join(import.meta.dirname, 'load-generator.ts')
  const [file = '', ...args] = pinned(load.cpus, [
    process.execPath,
    generator,
    JSON.stringify({ ...DEFAULTS, ...load }),
  ])
  const { stdout } = await promisify(execFile)(file, args)
  const result = JSON.parse(stdout) as LoadResult
  const bad = Object.keys(result.statuses).filter((status) => !status.startsWith('2'))
  if (bad.length > 0) throw new Error(`${load.path} answered ${JSON.stringify(result.statuses)}`)
  return result
}
