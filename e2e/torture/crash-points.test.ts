import { describe, expect, it } from 'vitest'
import { strikePoints } from './crash-points.ts'
import { seedOf } from './seed.ts'
import { someDeaths, someFaults } from './strikes.ts'

describe('a server over thirty requests that write in every way', () => {
  it('loses nothing and does nothing twice when it dies at a system call', async () => {
    const { violations, reached, strikes, calls } = await strikePoints({ seed: seedOf(), choose: someDeaths(15) })

    console.log(`${reached} of ${strikes} points reached, out of ${calls}`)
    expect(violations).toEqual([])
    expect(reached).toBeGreaterThan(10)
  })

  it('ends with 70 when a flush or a write fails, refuses while the disk is full, and resolves every retry', async () => {
    const { violations, reached } = await strikePoints({ seed: seedOf(), choose: someFaults(3, 1) })

    expect(violations).toEqual([])
    expect(reached).toBeGreaterThan(2)
  })
})
