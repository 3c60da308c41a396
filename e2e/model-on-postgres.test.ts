import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { it } from 'vitest'
import { checkEngine } from '../packages/core/src/engine-model/engine-model.fixture.ts'
import { commands, runHistory } from '../packages/core/src/engine-model/flow-model.fixture.ts'
import { openPostgresStorage } from '../packages/postgres/src/index.ts'
import { needsTool } from '../tooling/needed-tool.ts'

const SEED = Number(process.env.E2E_SEED ?? 20_261_123)
const RUNS = Number(process.env.E2E_MODEL_RUNS ?? 25)
const FLOW_RUNS = Number(process.env.E2E_FLOW_RUNS ?? 10)

/** Opens an empty schema for each history. */
const open = () =>
  openPostgresStorage({
    url: process.env.E2E_DATABASE_URL ?? '',
    schema: `model_${randomBytes(8).toString('hex')}`,
    poolSize: 5,
  })

needsTool('postgres').describe('on PostgreSQL', () => {
  it('the run engine keeps its promises', { timeout: Math.max(300_000, RUNS * 5_000) }, async () => {
    console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
    console.log(await checkEngine({ open, numRuns: RUNS, seed: SEED }))
  })

  it('flow control keeps limits, rates, start times and order in random histories with crashes', () =>
    fc.assert(
      fc.asyncProperty(commands, async (history) => {
        const storage = await open()
        try {
          await runHistory(history, storage)
        } finally {
          await storage.close()
        }
      }),
      { numRuns: FLOW_RUNS },
    ))
})
