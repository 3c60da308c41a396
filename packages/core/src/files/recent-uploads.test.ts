import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createRecentUploads } from './recent-uploads.ts'

describe('createRecentUploads', () => {
  it('sums what each owner has uploaded in the last 70 minutes', () => {
    const clock = createManualClock()
    const { add } = createRecentUploads(clock)

    expect([add('ann', 10), add('bob', 1), add('ann', 5)]).toEqual([10, 1, 15])
    clock.advance(30 * 60_000)
    expect(add('ann', 2)).toBe(17)
    clock.advance(41 * 60_000)
    expect([add('ann', 0), add('bob', 0)]).toEqual([2, 0])
  })
})
