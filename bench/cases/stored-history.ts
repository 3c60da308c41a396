import { mkdirSync } from 'node:fs'
import { RUN, startPerdure } from '../harness/perdure.ts'
import { alternate, type Comparison } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import { storeRuns } from '../harness/stored-runs.ts'
import type { BenchCase, Effort } from './bench-case.ts'
import { coldStart } from './cold-start.ts'
import { keyedRuns } from './durable-runs.ts'

const folderIn = (folder: string, name: string) => {
  mkdirSync(`${folder}/${name}`)
  return `${folder}/${name}`
}

const compareRuns = async (folder: string, runs: number, effort: Effort): Promise<Comparison> => {
  const bytes = await storeRuns(folderIn(folder, `${runs}`), { runs, running: 0 })
  const empty = await startPerdure({ folder: folderIn(folder, `none-${runs}`) })
  const full = await startPerdure({ folder: `${folder}/${runs}` })
  const onEmpty = keyedRuns(empty, RUN, effort)
  const onFull = keyedRuns(full, RUN, effort)
  try {
    const figures = await alternate(effort.rounds, { floor: () => onEmpty(64), subject: () => onFull(64) })
    const note = `${Math.round(bytes / runs)} bytes per run`
    return {
      case: 'F7',
      variant: `keyed run, ${runs} stored`,
      unit: 'runs/s',
      ...figures,
      goal: { atLeast: 0.85 },
      note,
    }
  } finally {
    await Promise.all([empty.stop(), full.stop()])
  }
}

export const storedHistory: BenchCase = {
  id: 'F7',
  title: 'keyed runs with and without stored history',
  run: (effort) =>
    inFolder(async (folder) => {
      const rows: Comparison[] = []
      for (const runs of effort.isQuick ? [100_000] : [100_000, 1_000_000])
        rows.push(await compareRuns(folder, runs, effort))
      return rows
    }),
}

/** A crash leaves runs `running`; the next start recovers them before it listens. */
export const recovery: BenchCase = {
  id: 'F10',
  title: 'cold start with 100,000 stored runs, 1,000 of them to recover',
  run: ({ rounds }) =>
    inFolder(async (folder) => {
      const empty = folderIn(folder, 'empty')
      await coldStart(() => startPerdure({ folder: empty }), '/v1/health')
      let starts = 0
      const figures = await alternate(Math.min(rounds, 3), {
        floor: async () => (await coldStart(() => startPerdure({ folder: empty }), '/v1/health')).readyMs,
        subject: async () => {
          const full = folderIn(folder, `full-${starts++}`)
          await storeRuns(full, { runs: 100_000, running: 1_000 })
          return (await coldStart(() => startPerdure({ folder: full }), '/v1/health')).readyMs
        },
      })
      return [{ case: 'F10', variant: '100,000 runs, 1,000 running', unit: 'ms', ...figures, goal: { atMost: 3 } }]
    }),
}
