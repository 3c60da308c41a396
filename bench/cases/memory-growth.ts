import { JSON_HEADERS, RUN, RUN_BODY, startBerth } from '../harness/berth.ts'
import { sendLoad } from '../harness/load.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

export const memoryGrowth: BenchCase = {
  id: 'F12',
  title: 'memory after many runs against memory after few',
  run: ({ isQuick }) =>
    inFolder(async (folder) => {
      const [few, many] = isQuick ? [5_000, 50_000] : [20_000, 200_000]
      const berth = await startBerth({ folder })
      let done = 0
      const runUntil = async (runs: number) => {
        while (done < runs) {
          const load = {
            path: RUN,
            body: RUN_BODY,
            headers: JSON_HEADERS,
            connections: 64,
            keyed: true,
            firstKey: done,
          }
          const { nextKey } = await sendLoad({ port: berth.port, ...load, durationMs: 1_000, warmUpMs: 0 })
          done = nextKey
        }
        return berth.rss() / 1_048_576
      }
      try {
        const figures = { floor: [await runUntil(few)], subject: [await runUntil(many)] }
        return [
          {
            case: 'F12',
            variant: `after ${many} runs`,
            unit: 'MiB',
            ...figures,
            goal: { atMost: 1.25 },
            note: `floor: after ${few}`,
          },
        ]
      } finally {
        await berth.stop()
      }
    }),
}
