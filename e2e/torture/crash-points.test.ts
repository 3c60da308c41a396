import { expect, it } from 'vitest'
import { needsTool } from '../../tooling/needed-tool.ts'
import { injectFaults } from './crash-points.ts'
import { someFaults, someKills } from './fault-plans.ts'
import { seedOf } from './seed.ts'

needsTool('strace').describe('a server under thirty requests that cover every kind of write', () => {
  it('loses nothing and repeats nothing when the server is killed at a system call', async () => {
    const { violations, reached, faults, calls } = await injectFaults({ seed: seedOf(), choose: someKills(15) })

    console.log(`${reached} of ${faults} points reached, out of ${calls}`)
    expect(violations).toEqual([])
    expect(reached).toBeGreaterThan(10)
  })

  it('exits with 70 after a failed flush or write, refuses work on a full disk, and resolves every retry', async () => {
    const { violations, reached } = await injectFaults({ seed: seedOf(), choose: someFaults(3, 1) })

    expect(violations).toEqual([])
    expect(reached).toBeGreaterThan(2)
  })
})
