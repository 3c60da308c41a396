import { createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSlidingWindow, type SlidingWindow } from './sliding-window.ts'

type Create = typeof createSlidingWindow

const WINDOW_MS = 100

const traffic = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  pausesMs: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 130 })), { maxLength: 60 }),
})

/** Every window accepts at most `limit` requests and rejects no request within the limit. */
const isExact = (create: Create) =>
  fc.property(traffic, ({ limit, pausesMs }) => {
    const clock = createManualClock()
    const window = create(clock, { limit, windowMs: WINDOW_MS, maxKeys: 10 })
    const accepted: number[] = []
    for (const pauseMs of pausesMs) {
      clock.advance(pauseMs)
      const now = clock.monotonicMs()
      const inWindow = accepted.filter((time) => time > now - WINDOW_MS).length
      const { allowed, remaining } = window.take('a')
      if (allowed) accepted.push(now)
      expect({ allowed, remaining }).toEqual({
        allowed: inWindow < limit,
        remaining: limit - inWindow - (allowed ? 1 : 0),
      })
    }
  })

/** A fixed-window counter, to show that the property detects an inexact window. */
const createFixedWindow: Create = (clock, { limit, windowMs }) => {
  let start = Number.NEGATIVE_INFINITY
  let count = 0
  const take: SlidingWindow['take'] = () => {
    const now = clock.monotonicMs()
    if (now >= start + windowMs) {
      start = now - (now % windowMs)
      count = 0
    }
    const allowed = count < limit
    if (allowed) count++
    return { allowed, limit, remaining: limit - count, resetMs: start + windowMs - now }
  }
  return { take, size: () => 1 }
}

describe('createSlidingWindow', () => {
  it('accepts at most the limit in every window and rejects no request within the limit', () => {
    fc.assert(isExact(createSlidingWindow), { numRuns: 500 })
  })

  it('is tested with a property that a fixed window fails', () => {
    expect(fc.check(isExact(createFixedWindow), { numRuns: 500 }).failed).toBe(true)
  })

  it('accepts again exactly after resetMs', () => {
    fc.assert(
      fc.property(traffic, ({ limit, pausesMs }) => {
        const clock = createManualClock()
        const window = createSlidingWindow(clock, { limit, windowMs: WINDOW_MS, maxKeys: 10 })
        for (const pauseMs of pausesMs) {
          clock.advance(pauseMs)
          const { allowed, resetMs } = window.take('a')
          expect(resetMs).toBeGreaterThan(0)
          expect(resetMs).toBeLessThanOrEqual(WINDOW_MS)
          if (allowed) continue
          clock.advance(resetMs - 1)
          expect(window.take('a').allowed).toBe(false)
          clock.advance(1)
          expect(window.take('a').allowed).toBe(true)
        }
      }),
    )
  })

  it('returns the time until the oldest request leaves the window', () => {
    const clock = createManualClock()
    const window = createSlidingWindow(clock, { limit: 2, windowMs: WINDOW_MS, maxKeys: 10 })

    expect(window.take('a')).toEqual({ allowed: true, limit: 2, remaining: 1, resetMs: 100 })
    clock.advance(30)
    expect(window.take('a')).toEqual({ allowed: true, limit: 2, remaining: 0, resetMs: 70 })
    clock.advance(69)
    expect(window.take('a')).toEqual({ allowed: false, limit: 2, remaining: 0, resetMs: 1 })
    clock.advance(1)
    expect(window.take('a')).toEqual({ allowed: true, limit: 2, remaining: 0, resetMs: 30 })
  })

  it('rejects every request if the limit is zero', () => {
    const window = createSlidingWindow(createManualClock(), { limit: 0, windowMs: WINDOW_MS, maxKeys: 10 })

    expect(window.take('a')).toEqual({ allowed: false, limit: 0, remaining: 0, resetMs: 100 })
  })

  it('counts each key separately', () => {
    const window = createSlidingWindow(createManualClock(), { limit: 1, windowMs: WINDOW_MS, maxKeys: 10 })

    expect(['a', 'b', 'a', 'b'].map((key) => window.take(key).allowed)).toEqual([true, true, false, false])
  })

  it('ignores a step of the wall clock', () => {
    const clock = createManualClock()
    const window = createSlidingWindow(clock, { limit: 1, windowMs: WINDOW_MS, maxKeys: 10 })
    window.take('a')

    clock.setWall(clock.now() + 86_400_000)

    expect(window.take('a')).toMatchObject({ allowed: false, resetMs: 100 })
  })

  it('evicts the least recently used key when there are too many keys', () => {
    const window = createSlidingWindow(createManualClock(), { limit: 1, windowMs: WINDOW_MS, maxKeys: 2 })
    for (const key of ['a', 'b', 'a']) window.take(key)

    window.take('c')

    expect(window.take('a').allowed).toBe(false)
    expect(window.take('b').allowed).toBe(true)
  })

  it('tracks at most maxKeys of a million keys', () => {
    const window = createSlidingWindow(createManualClock(), { limit: 60, windowMs: 60_000, maxKeys: 100_000 })
    for (let n = 0; n < 1_000_000; n++) window.take(`2001:db8:${n >> 16}:${n & 0xffff}::/64`)

    expect(window.size()).toBe(100_000)
  })
})
