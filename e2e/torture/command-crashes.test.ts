import { expect } from 'vitest'
import { needsTool } from '../../tooling/needed-tool.ts'
import { crashCommands } from './command-crashes.ts'
import { seedOf } from './seed.ts'

needsTool('strace').it(
  'keeps every row when a vacuum, backup or restore is killed at a system call, and succeeds on the next attempt',
  async () => {
    const { violations, killed } = await crashCommands({ seed: seedOf(), points: 3 })

    expect(violations).toEqual([])
    expect(killed).toEqual({ vacuum: 3, backup: 3, restore: 3 })
  },
)
