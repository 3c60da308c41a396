import { it } from 'vitest'
import { checkEngine } from '../packages/core/src/engine-model/engine-model.fixture.ts'
import { openSqliteStorage } from '../packages/sqlite/src/index.ts'

const SEED = Number(process.env.E2E_SEED ?? 20_261_121)
const RUNS = Number(process.env.E2E_MODEL_RUNS ?? 200)
const open = () => openSqliteStorage({ path: ':memory:' })

it('the run engine keeps its promises on SQLite', { timeout: Math.max(300_000, RUNS * 1_000) }, async () => {
  console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
  console.log(await checkEngine({ open, numRuns: RUNS, seed: SEED }))
})
