import { describe, expect, it } from 'vitest'
import { ProviderError } from './provider-error.ts'
import { createHeldRetry } from './retry.fixture.ts'
import { ToolError } from './tool-error.ts'

const REASON = 'shutdown'

/** Lets everything that is already decided happen. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

const counting = (error: unknown) => {
  const counted = {
    calls: 0,
    fn: () => {
      counted.calls++
      throw error
    },
  }
  return counted
}

describe('retry and aborts', () => {
  it('does not call when the signal is aborted before', async () => {
    const { retry } = createHeldRetry()
    const once = counting(new ProviderError('transient'))

    await expect(retry(once.fn, { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON)
    expect(once.calls).toBe(0)
  })

  it('hands its signal on', async () => {
    const { retry } = createHeldRetry()
    const { signal } = new AbortController()

    expect(await retry((_, own) => own === signal, { signal })).toBe(true)
  })

  it('throws the error of a call during which the signal was aborted, whatever it says of itself', async () => {
    const { retry, pending } = createHeldRetry()
    const controller = new AbortController()
    const error = new ProviderError('transient')
    let calls = 0

    const outcome = retry(
      () => {
        calls++
        controller.abort(REASON)
        throw error
      },
      { signal: controller.signal, isRetryable: () => true },
    )

    await expect(outcome).rejects.toBe(error)
    expect([calls, pending()]).toEqual([1, 0])
  })

  it('returns the result of a call that completes in spite of the abort', async () => {
    const { retry } = createHeldRetry()
    const controller = new AbortController()

    const outcome = retry(
      () => {
        controller.abort(REASON)
        return 'done'
      },
      { signal: controller.signal },
    )

    expect(await outcome).toBe('done')
  })

  it.each([
    ['an AbortError', Object.assign(new Error('gone'), { name: 'AbortError', retryable: true })],
    ['an aborted fetch', AbortSignal.abort().reason as unknown],
    ['an aborted tool', new ToolError('aborted')],
  ])('does not retry %s of another signal', async (_, error) => {
    const { retry, pending } = createHeldRetry()
    const once = counting(error)

    await expect(retry(once.fn, { isRetryable: () => true })).rejects.toBe(error)
    expect([once.calls, pending()]).toEqual([1, 0])
  })

  it('ends a pause at once with the reason, and its timer with it', async () => {
    const { retry, pending } = createHeldRetry()
    const controller = new AbortController()
    const once = counting(new ProviderError('transient'))
    const outcome = retry(once.fn, { signal: controller.signal })
    await settled()
    expect([once.calls, pending()]).toEqual([1, 1])

    controller.abort(REASON)

    await expect(outcome).rejects.toBe(REASON)
    expect([once.calls, pending()]).toEqual([1, 0])
  })

  it('does not call again when the signal is aborted right after the pause', async () => {
    const { retry, clock } = createHeldRetry()
    const controller = new AbortController()
    const once = counting(new ProviderError('transient'))
    const outcome = retry(once.fn, { signal: controller.signal })
    await settled()

    clock.advance(500)
    controller.abort(REASON)

    await expect(outcome).rejects.toBe(REASON)
    expect(once.calls).toBe(1)
  })

  it('does not pause when the signal is aborted while the error is judged', async () => {
    const { retry, pending } = createHeldRetry()
    const controller = new AbortController()
    const once = counting(new Error('judged'))
    const isRetryable = () => {
      controller.abort(REASON)
      return true
    }

    await expect(retry(once.fn, { signal: controller.signal, isRetryable })).rejects.toBe(REASON)
    expect([once.calls, pending()]).toEqual([1, 0])
  })

  it('leaves no listener on the signal after its pauses', async () => {
    const { retry, clock } = createHeldRetry()
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }
    const outcome = retry(
      (attempt) => {
        if (attempt < 2) throw new ProviderError('transient')
        return listeners
      },
      { signal },
    )
    await settled()
    expect(listeners).toBe(1)

    clock.advance(500)

    expect(await outcome).toBe(0)
  })
})
