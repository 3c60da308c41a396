import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CellMap, createCellMap } from './cell-map.ts'

const step = fc.record({
  kind: fc.constantFrom('set' as const, 'delete' as const),
  key: fc.integer({ min: 0, max: 9 }),
})

const VALUES = 1_500
const VALUE_BYTES = 8_000
const UNDER_WAY = 64

const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0

/** What becomes old, in bytes, while values pass through a map that is old itself. */
function grownOld(map: CellMap<number, unknown>): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (how?: { type: 'minor' }) => void
  let next = 0
  const pass = (values: number) => {
    for (const end = next + values; next < end; next++) {
      map.set(
        next,
        Array.from({ length: VALUE_BYTES / 8 }, () => next),
      )
      map.delete(next - UNDER_WAY)
      if (next % 150 === 0) collect({ type: 'minor' })
    }
  }
  pass(UNDER_WAY)
  collect()
  const before = oldBytes()
  pass(VALUES)
  return oldBytes() - before
}

describe('createPassingMap', () => {
  it('holds what a map holds', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const passing = createCellMap<number, number>()
        const map = new Map<number, number>()
        for (const [index, { kind, key }] of steps.entries()) {
          for (const one of [passing, map]) kind === 'set' ? one.set(key, index) : one.delete(key)
          expect([passing.get(key), passing.has(key)]).toEqual([map.get(key), map.has(key)])
          expect(passing.entries()).toEqual([...map])
          expect(passing.values()).toEqual([...map.values()])
        }
      }),
    )
  })

  it('leaves next to nothing of what has passed to the collection of everything', () => {
    expect(grownOld(createCellMap())).toBeLessThan((VALUES * VALUE_BYTES) / 8)
  })
})
