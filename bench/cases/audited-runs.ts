import { RUN, startPerdure } from '../harness/perdure.ts'
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
          env: {
            PERDURE_AUDIT_ENABLED: 'true',
            PERDURE_AUDIT_PATH: `${folder}/audit.db`,
            PERDURE_AUDIT_PASSPHRASE_REF: 'env:BENCH_PASSPHRASE',
            BENCH_PASSPHRASE: 'bench passphrase of at least thirty-two bytes',
            PERDURE_AUDIT_KEY_REF: 'env:BENCH_AUDIT_KEY',
            BENCH_AUDIT_KEY: 'bench key of at least thirty-two bytes',
          },
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
