import { startPerdure } from '../harness/perdure.ts'
import { alternate, type Comparison } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startFloor } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const SETTLE_MS = 1_500
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Measures the time from spawn to the first 200, and the memory once the server is idle. */
export async function coldStart(start: () => Promise<ServerProcess>, path: string) {
  const startedAt = performance.now()
  const server = await start()
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
  const readyMs = performance.now() - startedAt
  await pause(SETTLE_MS)
  const rss = server.rss()
  await server.stop()
  return { readyMs, rss }
}

export const coldStarts: BenchCase = {
  id: 'F6',
  title: 'cold start to the first 200 and idle memory, against hono with SQLite',
  run: ({ rounds }) =>
    inFolder(async (folder) => {
      const memory = { floor: [] as number[], subject: [] as number[] }
      let starts = 0
      const measure = async (kind: 'floor' | 'subject') => {
        const env = { FLOOR_DATABASE: `${folder}/floor-${starts++}.db`, FLOOR_GROUPED: '1' }
        const start = kind === 'floor' ? () => startFloor('hono-sqlite', env) : () => startPerdure({ folder })
        const { readyMs, rss } = await coldStart(start, kind === 'floor' ? '/' : '/v1/health')
        memory[kind].push(rss / 1_048_576)
        return readyMs
      }
      // The first start creates the database and is not measured.
      await coldStart(() => startPerdure({ folder }), '/v1/health')
      const times = await alternate(rounds, { floor: () => measure('floor'), subject: () => measure('subject') })
      const rows: Comparison[] = [
        { case: 'F6', variant: 'cold start to first 200', unit: 'ms', ...times, goal: { atMost: 2 } },
        { case: 'F6', variant: 'idle memory', unit: 'MiB', ...memory, goal: { atMost: 1.6 } },
      ]
      return rows
    }),
}
