import { describe, expect, it } from 'vitest'
import { classifyProviderResponse } from './classify-provider-response.ts'
import { ProviderError } from './provider-error.ts'
import { createPatientRetry } from './retry.fixture.ts'
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
  it('returns what the first call returns', async () => {
    const { retry, delays } = createPatientRetry()
    const { fn, calls } = failing()

    expect(await retry(fn)).toBe('done')
    expect([calls, delays]).toEqual([[1], []])
  })

  it('calls again after a retryable error, pausing longer each time', async () => {
    const { retry, delays } = createPatientRetry()
    const { fn, calls } = failing(transient(), transient())

    expect(await retry(fn)).toBe('done')
    expect([calls, delays]).toEqual([
      [1, 2, 3],
      [500, 1_000],
    ])
  })

  it('throws the last error as it is after three calls', async () => {
    const { retry } = createPatientRetry()
    const last = transient()
    const { fn, calls } = failing(transient(), transient(), last)

    await expect(retry(fn)).rejects.toBe(last)
    expect(calls).toEqual([1, 2, 3])
  })

  it('retries what rejects like what throws', async () => {
    const { retry } = createPatientRetry()

    expect(await retry((attempt) => (attempt < 2 ? Promise.reject(transient()) : 'done'))).toBe('done')
  })

  it.each([
    ['a provider error that is not retryable', new ProviderError('unauthorized')],
    ['a tool error', new ToolError('rate_limited')],
    ['an error of any other kind', new Error('a bug')],
    ['an error that is only nearly retryable', { retryable: 'yes' }],
    ['text', 'text'],
    ['null', null],
    ['nothing', undefined],
  ])('does not retry %s', async (_, error) => {
    const { retry } = createPatientRetry()
    const { fn, calls } = failing(error)

    await expect(retry(fn)).rejects.toBe(error)
    expect(calls).toEqual([1])
  })

  it('retries foreign errors that say they are retryable', async () => {
    const { retry } = createPatientRetry()

    expect(await retry(failing({ retryable: true }).fn)).toBe('done')
  })

  it('lets the caller decide what is retryable', async () => {
    const { retry } = createPatientRetry()
    const isRetryable = (error: unknown) => error instanceof RangeError

    expect(await retry(failing(new RangeError('again')).fn, { isRetryable })).toBe('done')
    await expect(retry(failing(transient()).fn, { isRetryable })).rejects.toBeInstanceOf(ProviderError)
  })

  it('gives a function without a signal one that is not aborted', async () => {
    const { retry } = createPatientRetry()

    expect(await retry((_, signal) => signal.aborted)).toBe(false)
  })

  it.each([[0], [-1], [Number.NaN]])('refuses %d attempts without calling', async (attempts) => {
    const { retry } = createPatientRetry()
    const { fn, calls } = failing()

    await expect(retry(fn, { attempts })).rejects.toBeInstanceOf(RangeError)
    expect(calls).toEqual([])
  })
})

describe('the pauses of retry', () => {
  const fiveFailures = () => failing(...Array.from({ length: 5 }, transient)).fn

  it('grow by the factor and stop growing at the longest', async () => {
    const { retry, delays } = createPatientRetry()

    await retry(fiveFailures(), { attempts: 6, initialDelayMs: 10, factor: 3, maxDelayMs: 100 })

    expect(delays).toEqual([10, 30, 90, 100, 100])
  })

  it('are anywhere between zero and the bound with full jitter', async () => {
    const randoms = [0, 0.5, 0.999, 0.25, 0]
    const { retry, delays } = createPatientRetry(() => randoms.shift() ?? 0)

    await retry(fiveFailures(), { attempts: 6, initialDelayMs: 100, factor: 1 })

    expect(delays).toEqual([0, 50, 99, 25, 0])
  })

  it('are the bound without jitter', async () => {
    const { retry, delays } = createPatientRetry(() => 0)

    await retry(fiveFailures(), { attempts: 6, initialDelayMs: 100, factor: 1, jitter: 'none' })

    expect(delays).toEqual([100, 100, 100, 100, 100])
  })

  it('stay zero for any number of attempts', async () => {
    const { retry, delays } = createPatientRetry()
    const { fn } = failing(...Array.from({ length: 1_100 }, transient))

    await retry(fn, { attempts: 2_000, initialDelayMs: 0 })

    expect(delays).toEqual(Array(1_100).fill(0))
  })
})

describe('retry after a Retry-After', () => {
  it('waits as long as a number says, even over the longest pause', async () => {
    const { retry, delays } = createPatientRetry()

    await retry(failing(limited('90')).fn, { maxDelayMs: 1_000 })

    expect(delays).toEqual([90_000])
  })

  it('waits longer when its own pause is longer', async () => {
    const { retry, delays } = createPatientRetry()

    await retry(failing(limited('1')).fn, { initialDelayMs: 5_000 })

    expect(delays).toEqual([5_000])
  })

  it('waits until the date', async () => {
    const { retry, clock, delays } = createPatientRetry()

    await retry(failing(limited(new Date(clock.now() + 20_000).toUTCString())).fn)

    expect(delays).toEqual([20_000])
  })

  it('reads the date against the clock of the retry, not of the failure', async () => {
    const { retry, clock, delays } = createPatientRetry()
    const error = limited(new Date(clock.now() + 60_000).toUTCString())

    clock.advance(15_000)
    await retry(failing(error).fn)
    clock.setWall(clock.now() - 15_000)
    await retry(failing(error).fn)

    expect(delays).toEqual([45_000, 15_000])
  })

  it.each([
    ['a date that has passed', { retryAfterDate: 'Sun, 06 Nov 1994 08:49:37 GMT' }],
    ['a date that is none', { retryAfterDate: 'tomorrow' }],
    ['no time', { retryAfterMs: 0 }],
    ['a time that has passed', { retryAfterMs: -1_000 }],
    ['a time that is no number', { retryAfterMs: Number.NaN }],
  ])('pauses as usual for %s', async (_, options) => {
    const { retry, delays } = createPatientRetry()

    await retry(failing(new ProviderError('rate-limit', options)).fn)

    expect(delays).toEqual([500])
  })

  it('waits for the longest time it accepts and gives up over that', async () => {
    const { retry, clock, delays } = createPatientRetry()
    const tooLong = limited('121')
    const tooLate = limited(new Date(clock.now() + 241_000).toUTCString())

    expect(await retry(failing(limited('120')).fn)).toBe('done')
    await expect(retry(failing(tooLong).fn)).rejects.toBe(tooLong)
    await expect(retry(failing(tooLate).fn)).rejects.toBe(tooLate)
    await expect(retry(failing(tooLong).fn, { maxRetryAfterMs: 121_000 })).resolves.toBe('done')
    expect(delays).toEqual([120_000, 121_000])
  })
})
