import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FallbackCandidate, fallback } from './fallback.ts'
import { ProviderError } from './provider-error.ts'
import { ToolError } from './tool-error.ts'

const failing =
  (error: unknown): FallbackCandidate<string> =>
  () => {
    throw error
  }

const countingCandidate = () => {
  const candidate = Object.assign(
    () => {
      candidate.calls++
      return 'second'
    },
    { calls: 0 },
  )
  return candidate
}

describe('fallback', () => {
  it('returns the result of the first candidate and calls no other', async () => {
    const second = countingCandidate()

    expect(await fallback([async () => 'first', second])).toBe('first')
    expect(second.calls).toBe(0)
  })

  it.each([
    ['a rate limit', new ProviderError('rate-limit')],
    ['a capacity error', new ProviderError('capacity')],
    ['a transient failure', new ProviderError('transient')],
    ['a capacity error that is not retryable', new ProviderError('capacity', { retryable: false })],
    ['any other retryable value', { retryable: true }],
  ])('tries the next candidate after %s', async (_, error) => {
    expect(await fallback([failing(error), async () => 'second'])).toBe('second')
  })

  it.each([
    ['an unauthorized error', new ProviderError('unauthorized')],
    ['a content-filter error', new ProviderError('content-filter')],
    ['a request that is too long', new ProviderError('context-length')],
    ['a tool error', new ToolError('rate_limited')],
    ['a TypeError', new TypeError('a bug')],
    ['a thrown string', 'text'],
    ['a thrown undefined', undefined],
  ])('does not try the next candidate after %s', async (_, error) => {
    const second = countingCandidate()

    await expect(fallback([failing(error), second])).rejects.toBe(error)
    expect(second.calls).toBe(0)
  })

  it('tries the next candidate for the given kinds and for all retryable errors', async () => {
    const on = ['content-filter', 'context-length'] as const
    const final = new ProviderError('capacity', { retryable: false })

    expect(await fallback([failing(new ProviderError('content-filter')), () => 'second'], { on })).toBe('second')
    expect(await fallback([failing(new ProviderError('transient')), () => 'second'], { on })).toBe('second')
    await expect(fallback([failing(final), () => 'second'], { on })).rejects.toBe(final)
  })

  it('throws a RangeError without candidates', async () => {
    await expect(fallback([])).rejects.toBeInstanceOf(RangeError)
  })

  it('calls the candidates in order until one succeeds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), async (fails) => {
        const called: number[] = []
        const candidates = fails.map((doesFail, index) => () => {
          called.push(index)
          if (doesFail) throw new ProviderError('transient')
          return index
        })

        const outcome = await fallback(candidates).catch(() => 'failed')

        const first = fails.indexOf(false)
        expect(outcome).toBe(first === -1 ? 'failed' : first)
        expect(called).toEqual(fails.slice(0, first === -1 ? undefined : first + 1).map((_, index) => index))
      }),
    )
  })
})

describe('the error thrown by fallback', () => {
  const first = new ProviderError('rate-limit')
  const second = new ProviderError('capacity')

  it('is the last error and lists the earlier errors in order', async () => {
    const last = new ProviderError('transient')

    await expect(fallback([failing(first), failing(second), failing(last)])).rejects.toBe(last)
    expect(last.errors).toEqual([first, second])
  })

  it('lists the earlier errors even if a later candidate is not tried', async () => {
    const bug = new TypeError('a bug')

    await expect(fallback([failing(first), failing(bug), () => 'third'])).rejects.toBe(bug)
    expect(bug).toHaveProperty('errors', [first])
  })

  it('has no errors property if no other error was thrown', async () => {
    const only = new ProviderError('transient')

    await expect(fallback([failing(only)])).rejects.toBe(only)
    await expect(fallback([failing(only), failing(only)])).rejects.toBe(only)
    expect('errors' in only).toBe(false)
  })

  it('keeps its own errors property', async () => {
    const inner = new Error('refused')
    const last = new AggregateError([inner])

    await expect(fallback([failing(first), failing(last)])).rejects.toBe(last)
    expect(last.errors).toEqual([inner])
  })

  it.each([
    ['frozen', Object.freeze(new Error('frozen'))],
    ['not an error', { retryable: true }],
    ['a string', 'text'],
  ])('stays unchanged if it is %s', async (_, last) => {
    await expect(fallback([failing(first), failing(last)])).rejects.toBe(last)
    expect(last).not.toHaveProperty('errors')
  })
})

describe('fallback with a signal', () => {
  it('calls no candidate if the signal is already aborted', async () => {
    const only = countingCandidate()

    await expect(fallback([only], { signal: AbortSignal.abort('shutdown') })).rejects.toBe('shutdown')
    expect(only.calls).toBe(0)
  })

  it('passes the given signal to the candidate, or by default a signal that is not aborted', async () => {
    const { signal } = new AbortController()

    expect(await fallback([(received) => received === signal], { signal })).toBe(true)
    expect(await fallback([(received) => received.aborted])).toBe(false)
  })

  it('does not try the next candidate if the signal is aborted during a call', async () => {
    const controller = new AbortController()
    const error = new ProviderError('transient')
    const second = countingCandidate()
    const aborting = () => {
      controller.abort('cancel')
      throw error
    }

    await expect(fallback([aborting, second], { signal: controller.signal })).rejects.toBe(error)
    expect(second.calls).toBe(0)
  })

  it('does not call the next candidate if the signal is aborted between two calls', async () => {
    const controller = new AbortController()
    const second = countingCandidate()
    const error = {
      get retryable() {
        controller.abort('cancel')
        return true
      },
    }

    await expect(fallback([failing(error), second], { signal: controller.signal })).rejects.toBe('cancel')
    expect(second.calls).toBe(0)
  })

  it.each([
    ['an AbortError', Object.assign(new Error('gone'), { name: 'AbortError', retryable: true })],
    ['an aborted tool', Object.assign(new ToolError('aborted'), { retryable: true })],
  ])('does not try the next candidate after %s caused by another signal', async (_, error) => {
    const second = countingCandidate()

    await expect(fallback([failing(error), second])).rejects.toBe(error)
    expect(second.calls).toBe(0)
  })
})
