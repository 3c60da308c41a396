import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sendLoad } from '../harness/load.ts'
import { startPerdure } from '../harness/perdure.ts'
import { alternate } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const PROGRAM = join(import.meta.dirname, '../embedded.mjs')
const CONNECTIONS = 16

export const embedded: BenchCase = {
  id: 'F15',
  title: 'processor time of a request through server.fetch, against the listener',
  run: ({ rounds, durationMs, warmUpMs }) =>
    inFolder(async (folder) => {
      const perdure = await startPerdure({ folder })
      const load = { port: perdure.port, method: 'GET', path: '/v1/agents/echo', connections: CONNECTIONS } as const
      const listener = async () => {
        const before = perdure.cpuMicros()
        const { perSecond } = await sendLoad({ ...load, durationMs, warmUpMs: 0 })
        return (perdure.cpuMicros() - before) / ((perSecond * durationMs) / 1_000)
      }
      const fetched = async () => {
        const env = { ...process.env, PERDURE_STORAGE_PATH: join(folder, 'embedded.db') }
        const times = [warmUpMs, durationMs].map(String)
        const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...times], { env })
        return (JSON.parse(stdout) as { readonly microsPerRequest: number }).microsPerRequest
      }
      try {
        await sendLoad({ ...load, durationMs: warmUpMs, warmUpMs: 0 })
        const figures = await alternate(rounds, { floor: listener, subject: fetched })
        return [{ case: 'F15', variant: 'GET of an agent', unit: 'µs', ...figures, goal: { atMost: 1.15 } }]
      } finally {
        await perdure.stop()
      }
    }),
}
