import { createInMemoryLockoutStore } from '@perdure/in-memory'
import { type LockoutStore, storageBusy } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger, untilIdle } from '../engine/test-engine.fixture.ts'
import { LOCKOUT } from './lockout.ts'
import { createSharedLockout } from './shared-lockout.ts'

/** Two processes that count failures together. */
function twoProcesses(storeOf: (store: LockoutStore) => LockoutStore = (store) => store) {
  const clock = createManualClock()
  const store = createInMemoryLockoutStore()
  const start = (own: LockoutStore) => {
    const { lockout, daemon } = createSharedLockout({ store: own, clock, timers: clock, logger: silentLogger }, LOCKOUT)
    daemon.start()
    const fail = (times: number, address = 'a') => {
      for (let n = 0; n < times; n++) lockout.recordFailure(address)
    }
    return { fail, left: (address = 'a') => lockout.lockedForMs(address) }
  }
  const round = async () => {
    clock.advance(250)
    await untilIdle(clock)
  }
  return { one: start(storeOf(store)), other: start(store), round, clock, store }
}

describe('a lockout that processes share', () => {
  it('locks an address everywhere a round after one process has locked it', async () => {
    const { one, other, round } = twoProcesses()
    one.fail(10)
    expect([one.left(), other.left()]).toEqual([60_000, undefined])

    await round()
    await round()

    expect([one.left(), other.left()]).toEqual([59_500, 59_500])
    expect(other.left('b')).toBeUndefined()
  })

  it('reads the locks of an idle process every two seconds, and when an attempt fails', async () => {
    let reads = 0
    const { one, other, round, clock } = twoProcesses((shared) => ({
      ...shared,
      locked: (now, limit) => {
        reads++
        return shared.locked(now, limit)
      },
    }))
    clock.advance(20_000)
    for (let n = 0; n < 8; n++) await round()
    reads = 0
    for (let n = 0; n < 40; n++) await round()
    expect(reads).toBe(5)
    other.fail(10)
    await round()
    one.left()
    clock.advance(0)
    await untilIdle(clock)
    expect(one.left()).toBeGreaterThan(59_000)
  })

  it('adds up the failures of all processes', async () => {
    const { one, other, round } = twoProcesses()
    one.fail(5)
    other.fail(4)
    await round()
    await round()
    expect([one.left(), other.left()]).toEqual([undefined, undefined])

    one.fail(1)
    await round()
    await round()

    expect(one.left()).toBeGreaterThan(59_000)
    expect(other.left()).toBe(one.left())
  })

  it('doubles the lock of an address that another process locked before', async () => {
    const { one, other, round, clock } = twoProcesses()
    one.fail(10)
    for (let n = 0; n < 12; n++) await round()
    clock.advance(60_000)
    await round()

    other.fail(10)

    expect(other.left()).toBe(120_000)
  })

  it('counts each failure once, although the store is busy or another process is faster', async () => {
    let refusals = 3
    const { one, other, round, store, clock } = twoProcesses((shared) => ({
      ...shared,
      put: async (records) => {
        if (refusals-- > 0) throw storageBusy()
        return shared.put(records)
      },
    }))
    one.fail(3)
    other.fail(3)
    for (let n = 0; n < 40; n++) await round()

    expect(await store.find(['a'])).toEqual([
      expect.objectContaining({ failedAt: Array(6).fill(clock.now() - 10_000) }),
    ])
  })

  it('forgets addresses an hour after their last failure and lock', async () => {
    const { one, round, store, clock } = twoProcesses()
    one.fail(1)
    await round()
    expect(await store.find(['a'])).toHaveLength(1)

    clock.advance(3_600_000)
    await round()

    expect(await store.find(['a'])).toEqual([])
  })
})
