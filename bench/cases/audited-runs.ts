import { auditEnv, RUN, startPerdure } from '../harness/perdure.ts'
import { alternate } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'
import { keyedRuns } from './durable-runs.ts'

export const auditedRuns: BenchCase = {
  id: 'F8',
  title: 'keyed runs with and without an encrypted audit entry for every request',
  run: (effort) =>
    inFolder((plainFolder) =>
      inFolder(async (folder) => {
        const plain = await startPerdure({ folder: plainFolder })
        const audited = await startPerdure({
          folder,
          env: auditEnv(folder),
        })
        const onPlain = keyedRuns(plain, RUN, effort)
        const onAudited = keyedRuns(audited, RUN, effort)
        try {
          const figures = await alternate(effort.rounds, { floor: () => onPlain(64), subject: () => onAudited(64) })
          const variant = 'keyed run, 64 connections, audited'
          const note = 'floor: Perdure without audit'
          return [{ case: 'F8', variant, unit: 'runs/s', ...figures, goal: { atLeast: 0.7 }, note }]
        } finally {
          await Promise.all([plain.stop(), audited.stop()])
        }
      }),
    ),
}
