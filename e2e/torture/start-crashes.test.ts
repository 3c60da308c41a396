import { expect } from 'vitest'
import { needsTool } from '../../tooling/needed-tool.ts'
import { seedOf } from './seed.ts'
import { crashStarts } from './start-crashes.ts'

needsTool('strace').it(
  'keeps acknowledged work and repeats nothing when the server is killed again and again during recovery',
  async () => {
    const { violations, deaths, reached } = await crashStarts({ seed: seedOf(), kills: 4, workers: 6 })

    console.log(`${deaths} starts killed, ${reached} of them before they listened`)
    expect(violations).toEqual([])
    expect(reached).toBeGreaterThan(2)
  },
)
