import { it } from 'vitest'
import { checkEngine } from '../packages/core/src/model/engine-model.fixture.ts'
import { openSqliteStorage } from '../packages/sqlite/src/index.ts'

const SEED = Number(process.env.E2E_SEED ?? 20_261_121)
const RUNS = Number(process.env.E2E_MODEL_RUNS ?? 700)

it('the run engine keeps its promises on SQLite', async () => {
  console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
  await checkEngine({ open: () => openSqliteStorage({ path: ':memory:' }), numRuns: RUNS, seed: SEED })
})
