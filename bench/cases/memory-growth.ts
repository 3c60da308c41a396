import { sendLoad } from '../harness/load.ts'
import { JSON_HEADERS, RUN, RUN_BODY, startPerdure } from '../harness/perdure.ts'
import type { Comparison } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

/** On a machine with much memory, V8 collects garbage late. docs/guides/performance.md recommends these heap limits. */
const BOUNDED = '--max-semi-space-size=16 --max-old-space-size=512'

const grow = (nodeOptions: string, [few, many]: readonly [number, number]): Promise<Comparison> =>
  inFolder(async (folder) => {
    const perdure = await startPerdure({ folder, env: { NODE_OPTIONS: nodeOptions } })
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
        const { nextKey } = await sendLoad({ port: perdure.port, ...load, durationMs: 1_000, warmUpMs: 0 })
        done = nextKey
      }
      return perdure.rss() / 1_048_576
    }
    try {
      const figures = { floor: [await runUntil(few)], subject: [await runUntil(many)] }
      const variant = `after ${many} runs${nodeOptions === '' ? '' : `, ${nodeOptions}`}`
      return { case: 'F12', variant, unit: 'MiB', ...figures, goal: { atMost: 1.25 }, note: `floor: after ${few} runs` }
    } finally {
      await perdure.stop()
    }
  })

export const memoryGrowth: BenchCase = {
  id: 'F12',
  title: 'memory after many runs, against memory after few',
  async run({ isQuick }) {
    const runs = isQuick ? ([5_000, 50_000] as const) : ([20_000, 200_000] as const)
    return [await grow('', runs), await grow(BOUNDED, runs)]
  },
}
