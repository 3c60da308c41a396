import { PROVIDER_FAILURES, type ProviderFailureKind } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from './provider-error.ts'
import { createInstantRetry } from './retry.fixture.ts'

const kind = fc.constantFrom(...(Object.keys(PROVIDER_FAILURES) as ProviderFailureKind[]))
const retryAfterMs = fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined })
const failure = fc.record({ kind, retryAfterMs }).map((options) => new ProviderError(options.kind, options))

const options = fc.record({
  retries: fc.integer({ min: 0, max: 7 }),
  delay: fc.integer({ min: 0, max: 10_000 }),
  maxDelay: fc.integer({ min: 0, max: 60_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  maxRetryAfter: fc.integer({ min: 0, max: 200_000 }),
})

describe('retry with random failures and options', () => {
  it('respects the attempt limit, stops at a final error, and pauses within the bounds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(failure, { maxLength: 10 }),
        options,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        async (failures, given, random) => {
          const { retry, delays } = createInstantRetry(() => random)
          let calls = 0
          const outcome = await retry(() => {
            const error = failures[calls++]
            if (error !== undefined) throw error
            return 'done'
          }, given).catch((error: unknown) => error)

          const isFinal = (error: ProviderError) => !error.retryable || (error.retryAfterMs ?? 0) > given.maxRetryAfter
          const firstFinal = failures.findIndex(isFinal)
          const callsToEnd = firstFinal === -1 ? failures.length + 1 : firstFinal + 1
          expect(calls).toBe(Math.min(given.retries + 1, callsToEnd))
          expect(outcome).toBe(failures[calls - 1] ?? 'done')
          expect(delays).toHaveLength(calls - 1)
          for (const [index, delayMs] of delays.entries()) {
            const retryAfter = failures[index]?.retryAfterMs ?? 0
            const bound = Math.min(given.maxDelay, given.delay * given.factor ** index)
            expect(delayMs).toBeGreaterThanOrEqual(retryAfter)
            expect(delayMs).toBeLessThanOrEqual(Math.max(retryAfter, bound))
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
