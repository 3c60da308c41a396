import { describe, expect, it } from 'vitest'
import { ProviderError } from './provider-error.ts'
import { createManualRetry } from './retry.fixture.ts'
import { ToolError } from './tool-error.ts'

const REASON = 'shutdown'

/** Lets pending promise callbacks run. */
const flushPromises = () => new Promise((resolve) => setImmediate(resolve))

const counting = (error: unknown) => {
  const counter = {
    calls: 0,
    fn: () => {
      counter.calls++
      throw error
    },
  }
  return counter
}

describe('retry with a signal', () => {
  it('does not call the function if the signal is already aborted', async () => {
    const { retry } = createManualRetry()
    const counted = counting(new ProviderError('transient'))

    await expect(retry(counted.fn, { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON)
    expect(counted.calls).toBe(0)
  })

  it('passes its signal to the function', async () => {
    const { retry } = createManualRetry()
    const { signal } = new AbortController()

    expect(await retry((_, received) => received === signal, { signal })).toBe(true)
  })

  it('throws the error of a call during which the signal is aborted, even if the error is retryable', async () => {
    const { retry, pending } = createManualRetry()
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

  it('returns the result of a call that completes despite the abort', async () => {
    const { retry } = createManualRetry()
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
  ])('does not retry %s caused by another signal', async (_, error) => {
    const { retry, pending } = createManualRetry()
    const counted = counting(error)

    await expect(retry(counted.fn, { isRetryable: () => true })).rejects.toBe(error)
    expect([counted.calls, pending()]).toEqual([1, 0])
  })

  it('rejects a pause with the abort reason and cancels its timer', async () => {
    const { retry, pending } = createManualRetry()
    const controller = new AbortController()
    const counted = counting(new ProviderError('transient'))
    const outcome = retry(counted.fn, { signal: controller.signal })
    await flushPromises()
    expect([counted.calls, pending()]).toEqual([1, 1])

    controller.abort(REASON)

    await expect(outcome).rejects.toBe(REASON)
    expect([counted.calls, pending()]).toEqual([1, 0])
  })

  it('does not retry if the signal is aborted right after the pause', async () => {
    const { retry, clock } = createManualRetry()
    const controller = new AbortController()
    const counted = counting(new ProviderError('transient'))
    const outcome = retry(counted.fn, { signal: controller.signal })
    await flushPromises()

    clock.advance(500)
    controller.abort(REASON)

    await expect(outcome).rejects.toBe(REASON)
    expect(counted.calls).toBe(1)
  })

  it('does not pause if the signal is aborted in isRetryable', async () => {
    const { retry, pending } = createManualRetry()
    const controller = new AbortController()
    const counted = counting(new Error('retryable'))
    const isRetryable = () => {
      controller.abort(REASON)
      return true
    }

    await expect(retry(counted.fn, { signal: controller.signal, isRetryable })).rejects.toBe(REASON)
    expect([counted.calls, pending()]).toEqual([1, 0])
  })

  it('removes its listener from the signal after a pause', async () => {
    const { retry, clock } = createManualRetry()
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
    await flushPromises()
    expect(listeners).toBe(1)

    clock.advance(500)

    expect(await outcome).toBe(0)
  })
})
