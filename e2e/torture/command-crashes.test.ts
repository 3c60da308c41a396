import { expect, it } from 'vitest'
import { crashCommands } from './command-crashes.ts'
import { seedOf } from './seed.ts'

it('a vacuum, a backup and a restore that are killed at a system call leave every row, and go well the next time', async () => {
  const { violations, killed } = await crashCommands({ seed: seedOf(), points: 3 })

  expect(violations).toEqual([])
  expect(killed).toEqual({ vacuum: 3, backup: 3, restore: 3 })
})
