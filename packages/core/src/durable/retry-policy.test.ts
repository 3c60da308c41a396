import { describe, expect, it } from 'vitest'
import { type RetryPolicy, retryDelayMs } from './retry-policy.ts'

describe('the delay before a retry', () => {
  const policy: RetryPolicy = { max: 8, delayMs: 100, factor: 3, maxDelayMs: 1_000 }

  it('grows by the factor up to the maximum', () => {
    const delays = [1, 2, 3, 4, 901].map((failures) => retryDelayMs({ ...policy, jitter: 'none' }, failures, 'run_1'))
    expect(delays).toEqual([100, 300, 900, 1_000, 1_000])
    expect(retryDelayMs({ max: 1, jitter: 'none' }, 1, 'run_1')).toBe(200)
  })

  it('is a part of that time that differs from run to run', () => {
    const delays = Array.from({ length: 1_000 }, (_, n) => retryDelayMs(policy, 10, `run_${n}`))
    expect(Math.min(...delays)).toBeLessThan(50)
    expect(Math.max(...delays)).toBeGreaterThan(950)
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length
    expect(mean).toBeGreaterThan(450)
    expect(mean).toBeLessThan(550)
  })
})
