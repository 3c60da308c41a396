import { describe, expect, it } from 'vitest'
import type { RunRetry } from '../targets/registration.ts'
import { delayBefore } from './retry-run.ts'

describe('the delay before a retry', () => {
  const retry: RunRetry = { maxAttempts: 9, initialDelayMs: 100, factor: 3, maxDelayMs: 1_000 }

  it('grows by the factor up to the maximum', () => {
    const delays = [0, 1, 2, 3, 900].map((retries) =>
      delayBefore({ ...retry, jitter: 'none' }, { id: 'run_1', retries }),
    )
    expect(delays).toEqual([100, 300, 900, 1_000, 1_000])
    expect(delayBefore({ maxAttempts: 2, jitter: 'none' }, { id: 'run_1' })).toBe(200)
  })

  it('is a part of that time that differs from run to run', () => {
    const delays = Array.from({ length: 1_000 }, (_, n) => delayBefore(retry, { id: `run_${n}`, retries: 9 }))
    expect(Math.min(...delays)).toBeLessThan(50)
    expect(Math.max(...delays)).toBeGreaterThan(950)
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length
    expect(mean).toBeGreaterThan(450)
    expect(mean).toBeLessThan(550)
  })
})
