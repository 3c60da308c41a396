import { describe, expect, it } from 'vitest'
import { systemClock } from './system-clock.ts'

describe('systemClock', () => {
  it('returns wall time in epoch milliseconds', () => {
    const before = Date.now()
    const now = systemClock.now()

    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  it('never moves the monotonic clock backwards', () => {
    const readings = Array.from({ length: 1_000 }, () => systemClock.monotonicMs())

    expect(readings).toEqual([...readings].sort((a, b) => a - b))
  })
})
