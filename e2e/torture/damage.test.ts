import { expect, it } from 'vitest'
import { damageFiles } from './damage.ts'
import { seedOf } from './seed.ts'

it('a server on a damaged file is refused by name, or answers the truth or an error, and leaves the file as it is', async () => {
  const { violations, ...counts } = await damageFiles({ seed: seedOf(), flips: 1, cuts: 1 })

  console.log(JSON.stringify(counts))
  expect(violations).toEqual([])
  expect(counts.refused).toBeGreaterThan(1)
})
