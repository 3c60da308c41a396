import { sendLoad } from '../harness/load.ts'
import { JSON_HEADERS, RUN, RUN_BODY, startPerdure } from '../harness/perdure.ts'
import { alternate, type Comparison, median } from '../harness/rounds.ts'
import { inFolder, type ServerProcess, startFloor } from '../harness/server-process.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const FLOOR_BODY = JSON.stringify({ input: { text: 'hello' } })

/** Measures runs per second. Each call continues the series of idempotency keys, so that every key is new. */
export function keyedRuns({ port }: ServerProcess, path: string, { durationMs, warmUpMs }: Effort) {
  let firstKey = 0
  return async (connections: number, isKeyed = true): Promise<number> => {
    const body = path === '/' ? FLOOR_BODY : RUN_BODY
    const target = { port, path, body, headers: JSON_HEADERS, connections, durationMs, warmUpMs }
    const { perSecond, nextKey } = await sendLoad({ ...target, keyed: isKeyed, firstKey })
    firstKey = nextKey
    return perSecond
  }
}

export const durableRuns: BenchCase = {
  id: 'F1',
  title:
    'the old form (no token, log level warn, keys in order): keyed and unkeyed durable runs, against direct writes of the same rows (synchronous full) and node:http',
  run: (effort) =>
    inFolder(async (folder) => {
      const floor = await startFloor('hono-sqlite', { FLOOR_DATABASE: `${folder}/floor.db`, FLOOR_GROUPED: '1' })
      const naive = await startFloor('hono-sqlite', { FLOOR_DATABASE: `${folder}/naive.db` })
      const raw = await startFloor('raw-http')
      const perdure = await startPerdure({ folder })
      const onFloor = keyedRuns(floor, '/', effort)
      const onNaive = keyedRuns(naive, '/', effort)
      const onRaw = keyedRuns(raw, '/', effort)
      const onPerdure = keyedRuns(perdure, RUN, effort)
      const rows: Comparison[] = []
      try {
        // Warms up with 64 connections: a single connection sends so few requests that V8 would still be compiling in
        // the last round.
        for (const onServer of [onFloor, onNaive, onPerdure]) await onServer(64)
        for (const connections of [1, 16, 64]) {
          const keyed = await alternate(effort.rounds, {
            floor: () => onFloor(connections),
            subject: () => onPerdure(connections),
          })
          const variant = `old form: keyed run, ${connections} connections`
          rows.push({ case: 'F1', variant, unit: 'runs/s', ...keyed, goal: { atLeast: 0.6 } })
          const subject = keyed.subject
          rows.push({
            case: '',
            variant: `${variant} / naive floor`,
            unit: 'runs/s',
            floor: [await onNaive(connections)],
            subject,
          })
          rows.push({
            case: '',
            variant: `${variant} / node:http`,
            unit: 'runs/s',
            floor: [await onRaw(connections)],
            subject,
          })
        }
        const unkeyed = await alternate(effort.rounds, {
          floor: () => onPerdure(64),
          subject: () => onPerdure(64, false),
        })
        const note = `floor: keyed, ${Math.round(median(unkeyed.floor))}/s`
        rows.push({
          case: 'F3',
          variant: 'unkeyed run, 64 connections',
          unit: 'runs/s',
          ...unkeyed,
          goal: { atLeast: 1 },
          note,
        })
      } finally {
        await Promise.all([floor, naive, raw, perdure].map(({ stop }) => stop()))
      }
      return rows
    }),
}
