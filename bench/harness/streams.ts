import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pinned } from './cores.ts'

/** Runs that a separate process starts, each with its own SSE reader. */
export interface StreamPlan {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly streams: number
  /** Readers start one after another over this time, so the words of the runs do not fall on the same millisecond. */
  readonly startOverMs: number
  /** A word counts if it arrives this long after the request of its run. */
  readonly countForMs: number
}

export interface Streamed {
  /** Words that arrived in time. An event carries one or several. */
  readonly words: number
  /** Time from emit to arrival. */
  readonly p99Ms: number
  readonly statuses: Readonly<Record<string, number>>
  /** Processor time of the readers, as a share of the elapsed time. */
  readonly readerCpu: number
}

const OVERLOADED = '503'

/** @throws Error if an answer is neither 2xx nor 503: a refused stream would distort the result */
export async function readStreams(plan: StreamPlan, cpus: string): Promise<Streamed> {
  const program = join(import.meta.dirname, 'stream-readers.ts')
  const [file = '', ...args] = pinned(cpus, [process.execPath, program, JSON.stringify(plan)])
  const { stdout } = await promisify(execFile)(file, args)
  const result = JSON.parse(stdout) as Streamed
  const bad = Object.keys(result.statuses).filter((status) => !status.startsWith('2') && status !== OVERLOADED)
  if (bad.length > 0) throw new Error(`${plan.path} answered ${JSON.stringify(result.statuses)}`)
  return result
}
