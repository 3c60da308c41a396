import { createInMemoryStorage } from '@perdure/in-memory'
import { openSqliteStorage } from '@perdure/sqlite'
import { describe, expect, it } from 'vitest'
import { ASKED_OPERATIONS } from './fault-requests.fixture.ts'
import { createFaultWorld } from './fault-world.fixture.ts'

const SEEDS = Number(process.env.FAULT_SEEDS ?? 4)
const FIRST = Number(process.env.FAULT_SEED ?? 1)
const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST + index)

const OPEN = {
  memory: async () => createInMemoryStorage(),
  sqlite: () => openSqliteStorage({ path: ':memory:' }),
}
const PASSING = ['busy', 'unavailable', 'full', 'late', 'answered-late'] as const
const ENDING = ['busy', 'unavailable', 'late', 'answered-late', 'lost', 'unknown'] as const

describe('a server on a storage with random faults', () => {
  it.each(seeds)(
    'gives only declared answers, loses nothing that it acknowledged, and recovers (seed %i)',
    async (seed) => {
      const storage = await OPEN[seed % 2 === 0 ? 'sqlite' : 'memory']()
      const world = await createFaultWorld(storage, { seed, share: 0.12, faults: PASSING })

      await world.attack({ rounds: 3, together: 5 })
      await world.recover()

      expect(world.seen.size).toBe(ASKED_OPERATIONS.length)
      expect(world.injected()).toBeGreaterThan(30)
      await world.expectSound()
      await storage.close()
    },
    120_000,
  )

  it.each(seeds)(
    'recovers completely after commits with an unknown outcome (seed %i)',
    async (seed) => {
      const storage = await OPEN[seed % 2 === 0 ? 'sqlite' : 'memory']()
      const world = await createFaultWorld(storage, { seed, share: 0.02, faults: ENDING })

      await world.attack({ rounds: 3, together: 5 })
      await world.recover()

      expect(world.deaths()).toBeGreaterThan(2)
      await world.expectSound()
      await storage.close()
    },
    120_000,
  )
})
