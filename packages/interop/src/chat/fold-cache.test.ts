import { describe, expect, it } from 'vitest'
import { createFoldCache } from './fold-cache.ts'

describe('the fold cache', () => {
  it('gives a value once, to the first who takes it', () => {
    const cache = createFoldCache(100_000)
    cache.keep('response', 'a', { n: 1 }, 10)
    expect(cache.take('transcript', 'a')).toBeUndefined()
    expect(cache.take('response', 'a')).toEqual({ n: 1 })
    expect(cache.take('response', 'a')).toBeUndefined()
    expect(cache.bytes()).toBe(0)
  })

  it('evicts what was used least recently, and keeps its size', () => {
    const cache = createFoldCache(100_000)
    for (let n = 0; n < 50; n++) {
      cache.keep('response', String(n), n, 5_000)
      expect(cache.bytes()).toBeLessThanOrEqual(100_000)
      if (n > 0) cache.keep('response', '0', cache.take('response', '0'), 5_000)
    }
    expect(cache.take('response', '0')).toBe(0)
    expect(cache.take('response', '1')).toBeUndefined()
    expect(cache.take('response', '49')).toBe(49)
  })

  it('does not keep what is larger than the cache', () => {
    const cache = createFoldCache(1_000)
    cache.keep('response', 'a', 1, 10_000)
    expect([cache.take('response', 'a'), cache.bytes()]).toEqual([undefined, 0])
  })
})
