import { PerdureError, type PerdureErrorDetails } from '@perdure/protocol/error'
import { describe, expect, it } from 'vitest'
import { backoffMs, delayBeforeRetry, retryAfterMs } from './retry-policy.ts'

const NOW = Date.parse('2026-01-01T00:00:00.000Z')

describe('retryAfterMs', () => {
  it.each([
    [null, undefined],
    ['7', 7_000],
    [' 0 ', 0],
    ['1.5', 1_500],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
  ])('parses Retry-After %s as %s ms', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected)
  })
})

describe('backoffMs', () => {
  it('doubles with every failure up to its limit, with full jitter', () => {
    const backoff = { baseMs: 100, maxMs: 1_000 }

    expect([0, 1, 2, 3, 4, 60].map((failures) => backoffMs(backoff, failures, 1))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ])
    expect(backoffMs(backoff, 2, 0)).toBe(0)
    expect(backoffMs(backoff, 2, 0.25)).toBe(100)
  })
})

describe('delayBeforeRetry', () => {
  const delayOf = (
    error: string,
    details: PerdureErrorDetails,
    over: { failures?: number; isRepeatable?: boolean } = {},
  ) =>
    delayBeforeRetry(new PerdureError(error, '', details), {
      failures: 1,
      maxRetries: 2,
      isRepeatable: true,
      chance: 0,
      ...over,
    })

  it.each([
    ['rate-limit-exceeded', { status: 429, retryAfter: 3_000 }, false, 3_000],
    ['auth-locked-out', { status: 429, retryAfter: 3_000 }, true, undefined],
    ['server-draining', { status: 503, retryAfter: 1_000 }, true, 1_000],
    ['server-draining', { status: 503, retryAfter: 1_000 }, false, undefined],
    ['server-draining', { status: 503, retryAfter: 60_001 }, true, undefined],
    ['network-failed', {}, true, 0],
    ['network-failed', {}, false, undefined],
    ['invalid-answer', { status: 502 }, true, 0],
    ['idempotency-in-flight', { status: 409, retryAfter: 500 }, true, 500],
    ['agent-busy', { status: 409, retryAfter: 500 }, true, undefined],
    ['internal-error', { status: 500 }, true, undefined],
    ['validation-failed', { status: 400 }, true, undefined],
  ])('for error %s %o and isRepeatable %s, returns %s', (error, details, isRepeatable, expected) => {
    expect(delayOf(error, details, { isRepeatable })).toBe(expected)
  })

  it('gives up after maxRetries, but never while the first attempt is still executing', () => {
    expect(delayOf('server-draining', { status: 503 }, { failures: 2 })).toBe(0)
    expect(delayOf('server-draining', { status: 503 }, { failures: 3 })).toBeUndefined()
    expect(delayOf('idempotency-in-flight', { status: 409 }, { failures: 99 })).toBe(0)
  })
})
