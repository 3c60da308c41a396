import { expect, it } from 'vitest'
import { runUnderJumps } from './clock.ts'
import { seedOf } from './seed.ts'

it('keeps every promise when the wall clock jumps and the server is killed', async () => {
  const { violations, actions } = await runUnderJumps({ seed: seedOf(), kills: 4, workers: 6 })

  expect(violations).toEqual([])
  expect(actions).toBeGreaterThan(10)
})
