import { createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLockout, LOCKOUT } from './lockout.ts'

function setUp(over: Partial<typeof LOCKOUT> = {}) {
  const clock = createManualClock()
  const lockout = createLockout(clock.monotonicMs, { ...LOCKOUT, ...over })
  const fail = (times: number, address = 'a') => {
    for (let n = 0; n < times; n++) lockout.recordFailure(address)
  }
  return { clock, lockout, fail, left: (address = 'a') => lockout.lockedForMs(address) }
}

describe('createLockout', () => {
  it('locks an address at its tenth failure within a minute', () => {
    const { clock, fail, left } = setUp()
    fail(9)
    expect(left()).toBeUndefined()
    clock.advance(59_999)

    fail(1)

    expect(left()).toBe(60_000)
    expect(left('b')).toBeUndefined()
    clock.advance(59_999)
    expect(left()).toBe(1)
    clock.advance(1)
    expect(left()).toBeUndefined()
  })

  it('does not count failures that are a minute old', () => {
    const { clock, fail, left } = setUp()
    fail(9)
    clock.advance(60_000)

    fail(9)

    expect(left()).toBeUndefined()
  })

  it('doubles the length of each lock, up to fifteen minutes', () => {
    const { clock, fail, left } = setUp()
    const locks: unknown[] = []
    for (let n = 0; n < 6; n++) {
      fail(10)
      locks.push(left())
      clock.advance(left() ?? 0)
    }

    expect(locks).toEqual([60_000, 120_000, 240_000, 480_000, 900_000, 900_000])
  })

  it('resets the lock length one hour after the last lock', () => {
    const early = setUp()
    const late = setUp()
    for (const { fail, clock } of [early, late]) {
      fail(10)
      clock.advance(60_000)
    }
    early.clock.advance(3_599_999)
    late.clock.advance(3_600_000)

    for (const { fail } of [early, late]) fail(10)

    expect([early.left(), late.left()]).toEqual([120_000, 60_000])
  })

  it('does not extend a lock for attempts during the lock', () => {
    const { clock, fail, left } = setUp()
    fail(10)
    clock.advance(30_000)
    fail(500)
    expect(left()).toBe(30_000)

    clock.advance(30_000)
    fail(9)
    expect(left()).toBeUndefined()
  })

  it('ignores a step of the wall clock', () => {
    const { clock, fail, left } = setUp()
    fail(10)
    clock.setWall(clock.now() + 86_400_000)

    expect(left()).toBe(60_000)
  })

  it('evicts the address with the oldest failure when there are too many addresses', () => {
    const { lockout, fail, left } = setUp({ maxAddresses: 2 })
    fail(10, 'a')
    fail(10, 'b')
    fail(10, 'c')

    expect([left('a'), left('b'), left('c')]).toEqual([undefined, 60_000, 60_000])
    expect(lockout.size()).toBe(2)
  })

  it('tracks at most 100,000 of a million addresses', () => {
    const { lockout } = setUp()
    for (let n = 0; n < 1_000_000; n++) lockout.recordFailure(`2001:db8:${n >> 16}:${n & 0xffff}::/64`)

    expect(lockout.size()).toBe(100_000)
  })

  it('locks exactly when ten counted failures fall within one minute', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 80 }), (pausesMs) => {
        const { clock, lockout, left } = setUp()
        let counted: number[] = []
        let lockedUntil = 0
        for (const pauseMs of pausesMs) {
          clock.advance(pauseMs)
          const now = clock.monotonicMs()
          if (now >= lockedUntil) {
            counted = [...counted.filter((at) => at > now - 60_000), now]
            if (counted.length === 10) {
              const before = lockedUntil === 0 ? 0 : undefined
              lockout.recordFailure('a')
              const lockMs = left() ?? 0
              expect(lockMs).toBeGreaterThanOrEqual(60_000)
              if (before === 0) expect(lockMs).toBe(60_000)
              lockedUntil = now + lockMs
              counted = []
              continue
            }
          }
          lockout.recordFailure('a')
          expect(left()).toBe(now < lockedUntil ? lockedUntil - now : undefined)
        }
      }),
    )
  })
})
