import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createRecentUploads } from './recent-uploads.ts'

describe('createRecentUploads', () => {
  it('sums what each owner has uploaded in the last 70 minutes', () => {
    const clock = createManualClock()
    const { begin } = createRecentUploads(clock)
    const add = (owner: string, bytes: number) => begin(owner).add(bytes)

    expect([add('ann', 10), add('bob', 1), add('ann', 5)]).toEqual([10, 1, 15])
    clock.advance(30 * 60_000)
    expect(add('ann', 2)).toBe(17)
    clock.advance(41 * 60_000)
    expect([add('ann', 0), add('bob', 0)]).toEqual([2, 0])
  })

  it('subtracts exactly what a cancelled upload has added, and nothing that has expired', () => {
    const clock = createManualClock()
    const { begin } = createRecentUploads(clock)
    const [first, second] = [begin('ann'), begin('ann')]
    first.add(10)
    clock.advance(60_000)
    first.add(5)
    expect(second.add(1)).toBe(16)

    first.cancel()
    first.cancel()
    expect(second.add(0)).toBe(1)

    const old = begin('bob')
    old.add(7)
    clock.advance(71 * 60_000)
    expect(begin('bob').add(2)).toBe(2)
    old.cancel()
    expect(begin('bob').add(0)).toBe(2)
  })
})
