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

const watched = () => {
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
  it('returns what the first candidate returns and asks no other', async () => {
    const second = watched()

    expect(await fallback([async () => 'first', second])).toBe('first')
    expect(second.calls).toBe(0)
  })

  it.each([
    ['a rate limit', new ProviderError('rate-limit')],
    ['missing capacity', new ProviderError('capacity')],
    ['a transient failure', new ProviderError('transient')],
    ['one of these that retry has given up', new ProviderError('capacity', { retryable: false })],
    ['anything else retryable', { retryable: true }],
  ])('moves on after %s', async (_, error) => {
    expect(await fallback([failing(error), async () => 'second'])).toBe('second')
  })

  it.each([
    ['refused credentials', new ProviderError('unauthorized')],
    ['refused content', new ProviderError('content-filter')],
    ['a request that is too long', new ProviderError('context-length')],
    ['a tool error', new ToolError('rate_limited')],
    ['a bug', new TypeError('a bug')],
    ['text', 'text'],
    ['nothing', undefined],
  ])('does not move on after %s', async (_, error) => {
    const second = watched()

    await expect(fallback([failing(error), second])).rejects.toBe(error)
    expect(second.calls).toBe(0)
  })

  it('moves on for the kinds it is given, and still for what is retryable', async () => {
    const on = ['content-filter', 'context-length'] as const
    const final = new ProviderError('capacity', { retryable: false })

    expect(await fallback([failing(new ProviderError('content-filter')), () => 'second'], { on })).toBe('second')
    expect(await fallback([failing(new ProviderError('transient')), () => 'second'], { on })).toBe('second')
    await expect(fallback([failing(final), () => 'second'], { on })).rejects.toBe(final)
  })

  it('refuses to choose from no candidates', async () => {
    await expect(fallback([])).rejects.toBeInstanceOf(RangeError)
  })

  it('asks the candidates in order until one does not fail', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }), async (fails) => {
        const asked: number[] = []
        const candidates = fails.map((doesFail, index) => () => {
          asked.push(index)
          if (doesFail) throw new ProviderError('transient')
          return index
        })

        const outcome = await fallback(candidates).catch(() => 'failed')

        const first = fails.indexOf(false)
        expect(outcome).toBe(first === -1 ? 'failed' : first)
        expect(asked).toEqual(fails.slice(0, first === -1 ? undefined : first + 1).map((_, index) => index))
      }),
    )
  })
})

describe('the error of fallback', () => {
  const first = new ProviderError('rate-limit')
  const second = new ProviderError('capacity')

  it('is the last one, with the earlier ones in order', async () => {
    const last = new ProviderError('transient')

    await expect(fallback([failing(first), failing(second), failing(last)])).rejects.toBe(last)
    expect(last.errors).toEqual([first, second])
  })

  it('holds the earlier ones also when it stops the search', async () => {
    const bug = new TypeError('a bug')

    await expect(fallback([failing(first), failing(bug), () => 'third'])).rejects.toBe(bug)
    expect(bug).toHaveProperty('errors', [first])
  })

  it('has no list when there was no other', async () => {
    const only = new ProviderError('transient')

    await expect(fallback([failing(only)])).rejects.toBe(only)
    await expect(fallback([failing(only), failing(only)])).rejects.toBe(only)
    expect('errors' in only).toBe(false)
  })

  it('keeps the list it came with', async () => {
    const inner = new Error('refused')
    const last = new AggregateError([inner])

    await expect(fallback([failing(first), failing(last)])).rejects.toBe(last)
    expect(last.errors).toEqual([inner])
  })

  it.each([
    ['frozen', Object.freeze(new Error('frozen'))],
    ['not an error', { retryable: true }],
    ['text', 'text'],
  ])('stays as it is when it is %s', async (_, last) => {
    await expect(fallback([failing(first), failing(last)])).rejects.toBe(last)
    expect(last).not.toHaveProperty('errors')
  })
})

describe('fallback and aborts', () => {
  it('asks nobody when the signal is aborted before', async () => {
    const only = watched()

    await expect(fallback([only], { signal: AbortSignal.abort('shutdown') })).rejects.toBe('shutdown')
    expect(only.calls).toBe(0)
  })

  it('hands its signal on, or one that is not aborted', async () => {
    const { signal } = new AbortController()

    expect(await fallback([(own) => own === signal], { signal })).toBe(true)
    expect(await fallback([(own) => own.aborted])).toBe(false)
  })

  it('does not move on when the signal was aborted meanwhile', async () => {
    const controller = new AbortController()
    const error = new ProviderError('transient')
    const second = watched()
    const aborting = () => {
      controller.abort('cancel')
      throw error
    }

    await expect(fallback([aborting, second], { signal: controller.signal })).rejects.toBe(error)
    expect(second.calls).toBe(0)
  })

  it('does not ask the next one when the signal is aborted between two', async () => {
    const controller = new AbortController()
    const second = watched()
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
  ])('does not move on after %s of another signal', async (_, error) => {
    const second = watched()

    await expect(fallback([failing(error), second])).rejects.toBe(error)
    expect(second.calls).toBe(0)
  })
})
