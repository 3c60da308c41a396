import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pinned } from './cores.ts'

/** Deliveries that a separate process sends to a hook that verifies as GitHub does. */
export interface Deliveries {
  readonly port: number
  readonly path: string
  readonly secret: string
  readonly perSecond: number
  readonly durationMs: number
  /** Deliveries of this time at the start are sent, but not measured. */
  readonly warmUpMs: number
  readonly bodyBytes: number
}

export interface DeliveriesResult {
  readonly sent: number
  readonly statuses: Readonly<Record<string, number>>
  /** How late the sender itself was at most. */
  readonly latestMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly maxMs: number
}

/** @param cpus CPUs that the sender may use, as for `taskset -c` */
export async function sendDeliveries(deliveries: Deliveries, cpus: string): Promise<DeliveriesResult> {
  const sender = join(import.meta.dirname, 'hook-sender.ts')
  const [file = '', ...args] = pinned(cpus, [process.execPath, sender, JSON.stringify(deliveries)])
  const { stdout } = await promisify(execFile)(file, args)
  return JSON.parse(stdout) as DeliveriesResult
}
