import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { alternate } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const PROGRAM = join(import.meta.dirname, '../queue.mjs')

export const queuedRuns: BenchCase = {
  id: 'F13',
  title: 'runs started per second with 100,000 queued runs of 1,000 keys, against 1,000 queued runs',
  run: ({ rounds, durationMs, warmUpMs }) =>
    inFolder(async (folder) => {
      const startsWith = async (queued: number) => {
        const args = [PROGRAM, folder, ...[queued, warmUpMs, durationMs].map(String)]
        const { stdout } = await promisify(execFile)(process.execPath, args)
        return (JSON.parse(stdout) as { readonly startsPerSecond: number }).startsPerSecond
      }
      const figures = await alternate(rounds, { floor: () => startsWith(1_000), subject: () => startsWith(100_000) })
      return [{ case: 'F13', variant: 'concurrency of 1 per key', unit: '/s', ...figures, goal: { atLeast: 0.9 } }]
    }),
}
