import { sendLoad } from '../harness/load.ts'
import { JSON_HEADERS, RUN, RUN_BODY, startPerdure } from '../harness/perdure.ts'
import { alternate } from '../harness/rounds.ts'
import { inFolder, startFloor } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const KEYS = 1_000

export const keyedReplay: BenchCase = {
  id: 'F2',
  title: 'replayed answers of keyed requests, against an echo',
  run: (effort) =>
    inFolder(async (folder) => {
      const floor = await startFloor('hono-echo')
      const perdure = await startPerdure({ folder })
      const { durationMs, warmUpMs } = effort
      const shared = { headers: JSON_HEADERS, connections: 64, durationMs, warmUpMs }
      try {
        await sendLoad({
          ...shared,
          port: perdure.port,
          path: RUN,
          body: RUN_BODY,
          keyed: true,
          repeatKey: true,
          keys: KEYS,
        })
        const figures = await alternate(effort.rounds, {
          floor: async () => (await sendLoad({ ...shared, port: floor.port, path: '/', body: RUN_BODY })).perSecond,
          subject: async () => {
            const repeated = { path: RUN, body: RUN_BODY, keyed: true, repeatKey: true, keys: KEYS }
            return (await sendLoad({ ...shared, port: perdure.port, ...repeated })).perSecond
          },
        })
        return [
          {
            case: 'F2',
            variant: 'keyed replay, 64 connections',
            unit: 'answers/s',
            ...figures,
            goal: { atLeast: 0.45 },
          },
        ]
      } finally {
        await Promise.all([floor.stop(), perdure.stop()])
      }
    }),
}
