import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemTimers } from './system-timers.ts'

const DAY_MS = 86_400_000

describe('systemTimers', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('fires a timer once after the delay', () => {
    const fired = vi.fn()
    systemTimers.after(50, fired)

    vi.advanceTimersByTime(49)
    expect(fired).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    vi.advanceTimersByTime(1_000)
    expect(fired).toHaveBeenCalledTimes(1)
  })

  it('supports a delay longer than the limit of setTimeout', () => {
    const fired = vi.fn()
    systemTimers.after(60 * DAY_MS, fired)

    vi.advanceTimersByTime(60 * DAY_MS - 1)
    expect(fired).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fired).toHaveBeenCalledTimes(1)
  })

  it('fires no timer after its cancellation, even in the second chunk of a long delay', () => {
    const fired = vi.fn()
    const cancelShort = systemTimers.after(10, fired)
    const cancelLong = systemTimers.after(60 * DAY_MS, fired)

    cancelShort()
    vi.advanceTimersByTime(30 * DAY_MS)
    cancelLong()
    vi.advanceTimersByTime(60 * DAY_MS)
    expect(fired).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ignores a cancellation after the timer has fired', () => {
    const fired = vi.fn()
    const cancel = systemTimers.after(1, fired)

    vi.advanceTimersByTime(1)
    cancel()
    cancel()
    expect(fired).toHaveBeenCalledTimes(1)
  })
})
