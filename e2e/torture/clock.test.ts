import { expect, it } from 'vitest'
import { runUnderJumps } from './clock.ts'
import { seedOf } from './seed.ts'

it('a server whose wall clock jumps while it works and is killed keeps every promise', async () => {
  const { violations, deeds } = await runUnderJumps({ seed: seedOf(), kills: 4, workers: 6 })

  expect(violations).toEqual([])
  expect(deeds).toBeGreaterThan(10)
})
