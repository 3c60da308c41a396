import { describe, expect, it } from 'vitest'
import { createRandomPool } from './random-pool.ts'

/** Fills with 1, 2, 3, … and records each filled buffer. */
function counting() {
  const pools: Uint8Array[] = []
  let last = 0
  const fill = (pool: Uint8Array) => {
    for (let index = 0; index < pool.length; index++) pool[index] = (last++ % 255) + 1
    pools.push(pool)
  }
  return { random: createRandomPool(fill), pools }
}

describe('createRandomPool', () => {
  it('returns every byte once and fetches bytes in batches', () => {
    const { random, pools } = counting()

    const handedOut = Array.from({ length: 256 }, () => [...random(16)]).flat()

    expect(handedOut).toEqual(Array.from({ length: 4_096 }, (_, index) => (index % 255) + 1))
    expect(pools).toHaveLength(1)
    random(1)
    expect(pools).toHaveLength(2)
  })

  it('never returns bytes of two batches in one result', () => {
    const { random, pools } = counting()

    random(4_090)
    expect(random(16)).toHaveLength(16)

    expect(pools).toHaveLength(2)
  })

  it('wipes returned bytes from the pool', () => {
    const { random, pools } = counting()

    const secret = random(32)

    expect(secret.every((byte) => byte > 0)).toBe(true)
    expect([...(pools[0] as Uint8Array).subarray(0, 32)]).toEqual(Array.from({ length: 32 }, () => 0))
  })

  it('serves requests that are larger than the pool', () => {
    const bytes = createRandomPool()(10_000)

    expect(bytes).toHaveLength(10_000)
    expect(new Set(bytes).size).toBeGreaterThan(200)
  })
})
