import { describe, expect, it } from 'vitest'
import { classifyProviderResponse } from './classify-provider-response.ts'
import { ProviderError } from './provider-error.ts'
import { createInstantRetry } from './retry.fixture.ts'
import { ToolError } from './tool-error.ts'

const transient = () => new ProviderError('transient')

const failing = (...errors: unknown[]) => {
  const calls: number[] = []
  const fn = (attempt: number) => {
    calls.push(attempt)
    if (calls.length <= errors.length) throw errors[calls.length - 1]
    return 'done'
  }
  return { fn, calls }
}

const limited = (retryAfter: string) =>
  classifyProviderResponse({ status: 429, headers: { 'retry-after': retryAfter } })

describe('retry', () => {
  it('returns the result of a successful first call', async () => {
    const { retry, delays } = createInstantRetry()
    const { fn, calls } = failing()

    expect(await retry(fn)).toBe('done')
    expect([calls, delays]).toEqual([[1], []])
  })

  it('calls again after a retryable error, pausing longer each time', async () => {
    const { retry, delays } = createInstantRetry()
    const { fn, calls } = failing(transient(), transient())

    expect(await retry(fn)).toBe('done')
    expect([calls, delays]).toEqual([
      [1, 2, 3],
      [500, 1_000],
    ])
  })

  it('throws the last error unchanged after three calls', async () => {
    const { retry } = createInstantRetry()
    const last = transient()
    const { fn, calls } = failing(transient(), transient(), last)

    await expect(retry(fn)).rejects.toBe(last)
    expect(calls).toEqual([1, 2, 3])
  })

  it('retries after a rejected promise as after a thrown error', async () => {
    const { retry } = createInstantRetry()

    expect(await retry((attempt) => (attempt < 2 ? Promise.reject(transient()) : 'done'))).toBe('done')
  })

  it.each([
    ['a provider error that is not retryable', new ProviderError('unauthorized')],
    ['a tool error', new ToolError('rate_limited')],
    ['an error of any other kind', new Error('a bug')],
    ['an error whose retryable is not true', { retryable: 'yes' }],
    ['a thrown string', 'text'],
    ['a thrown null', null],
    ['a thrown undefined', undefined],
  ])('does not retry %s', async (_, error) => {
    const { retry } = createInstantRetry()
    const { fn, calls } = failing(error)

    await expect(retry(fn)).rejects.toBe(error)
    expect(calls).toEqual([1])
  })

  it('retries any thrown value with retryable: true', async () => {
    const { retry } = createInstantRetry()

    expect(await retry(failing({ retryable: true }).fn)).toBe('done')
  })

  it('uses the isRetryable of the caller', async () => {
    const { retry } = createInstantRetry()
    const isRetryable = (error: unknown) => error instanceof RangeError

    expect(await retry(failing(new RangeError('again')).fn, { isRetryable })).toBe('done')
    await expect(retry(failing(transient()).fn, { isRetryable })).rejects.toBeInstanceOf(ProviderError)
  })

  it('passes a signal that is not aborted if the options have none', async () => {
    const { retry } = createInstantRetry()

    expect(await retry((_, signal) => signal.aborted)).toBe(false)
  })

  it.each([[-1], [Number.NaN]])('throws a RangeError for %d retries without calling the function', async (retries) => {
    const { retry } = createInstantRetry()
    const { fn, calls } = failing()

    await expect(retry(fn, { retries })).rejects.toBeInstanceOf(RangeError)
    expect(calls).toEqual([])
  })
})

describe('the backoff delay of retry', () => {
  const fiveFailures = () => failing(...Array.from({ length: 5 }, transient)).fn

  it('increases by the factor up to maxDelay', async () => {
    const { retry, delays } = createInstantRetry()

    await retry(fiveFailures(), { retries: 5, delay: 10, factor: 3, maxDelay: 100 })

    expect(delays).toEqual([10, 30, 90, 100, 100])
  })

  it('is random between zero and the bound with full jitter', async () => {
    const randoms = [0, 0.5, 0.999, 0.25, 0]
    const { retry, delays } = createInstantRetry(() => randoms.shift() ?? 0)

    await retry(fiveFailures(), { retries: 5, delay: 100, factor: 1 })

    expect(delays).toEqual([0, 50, 99, 25, 0])
  })

  it('equals the bound without jitter', async () => {
    const { retry, delays } = createInstantRetry(() => 0)

    await retry(fiveFailures(), { retries: 5, delay: 100, factor: 1, jitter: 'none' })

    expect(delays).toEqual([100, 100, 100, 100, 100])
  })

  it('stays zero for an initial delay of zero, however many retries there are', async () => {
    const { retry, delays } = createInstantRetry()
    const { fn } = failing(...Array.from({ length: 1_100 }, transient))

    await retry(fn, { retries: 1_999, delay: 0 })

    expect(delays).toEqual(Array(1_100).fill(0))
  })
})

describe('retry of an error with a Retry-After', () => {
  it('waits for a numeric Retry-After, even beyond maxDelay', async () => {
    const { retry, delays } = createInstantRetry()

    await retry(failing(limited('90')).fn, { maxDelay: 1_000 })

    expect(delays).toEqual([90_000])
  })

  it('waits for its own backoff if that is longer', async () => {
    const { retry, delays } = createInstantRetry()

    await retry(failing(limited('1')).fn, { delay: 5_000 })

    expect(delays).toEqual([5_000])
  })

  it('waits until a Retry-After date', async () => {
    const { retry, clock, delays } = createInstantRetry()

    await retry(failing(limited(new Date(clock.now() + 20_000).toUTCString())).fn)

    expect(delays).toEqual([20_000])
  })

  it('computes the delay to a date at the time of the retry, not of the failure', async () => {
    const { retry, clock, delays } = createInstantRetry()
    const error = limited(new Date(clock.now() + 60_000).toUTCString())

    clock.advance(15_000)
    await retry(failing(error).fn)
    clock.setWall(clock.now() - 15_000)
    await retry(failing(error).fn)

    expect(delays).toEqual([45_000, 15_000])
  })

  it.each([
    ['a date that has passed', { retryAfterDate: 'Sun, 06 Nov 1994 08:49:37 GMT' }],
    ['an invalid date', { retryAfterDate: 'tomorrow' }],
    ['a delay of zero', { retryAfterMs: 0 }],
    ['a negative delay', { retryAfterMs: -1_000 }],
    ['a delay that is not a number', { retryAfterMs: Number.NaN }],
  ])('uses its own backoff for %s', async (_, options) => {
    const { retry, delays } = createInstantRetry()

    await retry(failing(new ProviderError('rate-limit', options)).fn)

    expect(delays).toEqual([500])
  })

  it('waits for a Retry-After up to maxRetryAfter and throws above it', async () => {
    const { retry, clock, delays } = createInstantRetry()
    const tooLong = limited('121')
    const tooLate = limited(new Date(clock.now() + 241_000).toUTCString())

    expect(await retry(failing(limited('120')).fn)).toBe('done')
    await expect(retry(failing(tooLong).fn)).rejects.toBe(tooLong)
    await expect(retry(failing(tooLate).fn)).rejects.toBe(tooLate)
    await expect(retry(failing(tooLong).fn, { maxRetryAfter: 121_000 })).resolves.toBe('done')
    expect(delays).toEqual([120_000, 121_000])
  })
})
