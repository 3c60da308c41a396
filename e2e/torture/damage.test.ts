import { expect, it } from 'vitest'
import { damageFiles } from './damage.ts'
import { seedOf } from './seed.ts'

it('refuses a damaged file with a typed error, or serves only correct answers and errors', async () => {
  const { violations, ...counts } = await damageFiles({ seed: seedOf(), flips: 1, cuts: 1 })

  console.log(JSON.stringify(counts))
  expect(violations).toEqual([])
  expect(counts.refused).toBeGreaterThan(1)
})
