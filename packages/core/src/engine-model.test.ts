import { createInMemoryStorage } from '@berth/in-memory'
import { it } from 'vitest'
import { checkEngine } from './engine-model.fixture.ts'

it('keeps its promises whatever its callers, its code and the power supply do', { timeout: 300_000 }, async () => {
  await checkEngine({
    open: createInMemoryStorage,
    numRuns: Number(process.env.N ?? 2_000),
    seed: Number(process.env.SEED ?? 20_261_121),
  })
})
