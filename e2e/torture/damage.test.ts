import { expect, it } from 'vitest'
import { damageFiles } from './damage.ts'
import { seedOf } from './seed.ts'

it('refuses a damaged file by name, or serves correct answers and errors only, and leaves the file unchanged', async () => {
  const { violations, ...counts } = await damageFiles({ seed: seedOf(), flips: 1, cuts: 1 })

  console.log(JSON.stringify(counts))
  expect(violations).toEqual([])
  expect(counts.refused).toBeGreaterThan(1)
})
