import { describe, expect, it } from 'vitest'
import { type Look, watchLeftovers } from './leftovers.ts'

const LEASE_MS = 1_000
const RUN = { what: 'a run', owner: 'dead' }

const lookAt = (atMs: number, over: Partial<Look> = {}): Look => ({
  ...{ atMs, living: new Set(['a', 'b']), unhindered: new Set(['a', 'b']), owned: [RUN], ...over },
})

/** The leftovers after looks at each of these moments. */
const afterLooks = (moments: readonly number[], over: Partial<Look> = {}) => {
  const watch = watchLeftovers(LEASE_MS)
  for (const atMs of moments) watch.look(lookAt(atMs, over))
  return watch.leftovers()
}

const EVERY_250_MS = Array.from({ length: 17 }, (_, n) => n * 250)
const what = 'a run of the process dead'

describe('watchLeftovers', () => {
  it('measures how long a run belongs to a process without a lease, once others may take over', () => {
    expect(afterLooks(EVERY_250_MS)).toEqual([{ what, ms: 4_000 - LEASE_MS + 250 }])
  })

  it('finds nothing that belongs to a process with a lease', () => {
    expect(afterLooks(EVERY_250_MS, { owned: [{ ...RUN, owner: 'a' }] })).toEqual([])
  })

  it('does not count while every process has a fault', () => {
    expect(afterLooks(EVERY_250_MS, { unhindered: new Set() })).toEqual([{ what, ms: 0 }])
  })

  it('does not count while the recoverer has a fault and a lease', () => {
    const hindered = { unhindered: new Set(['b']), recoverer: 'a' }
    expect(afterLooks(EVERY_250_MS, hindered)).toEqual([{ what, ms: 0 }])
    expect(afterLooks(EVERY_250_MS, { ...hindered, living: new Set(['b']) })[0]?.ms).toBeGreaterThan(1_000)
  })

  it('does not count the time of an outage, nor the lease after it', () => {
    const watch = watchLeftovers(LEASE_MS)
    for (const atMs of EVERY_250_MS) watch.look(lookAt(atMs))
    const [{ ms } = { ms: 0 }] = watch.leftovers()
    watch.miss()
    watch.look(lookAt(60_000))
    watch.look(lookAt(60_500))
    expect(watch.leftovers()).toEqual([{ what, ms }])
    watch.look(lookAt(61_000))
    expect(watch.leftovers()).toEqual([{ what, ms: ms + 500 }])
  })
})
