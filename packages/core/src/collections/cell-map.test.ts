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
const LIVE_VALUES = 64

const oldSpaceBytes = () =>
  getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0

/** Growth of the old generation, in bytes, while values are set and deleted in a map that is old itself. */
function oldGenerationGrowth(map: CellMap<number, unknown>): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (how?: { type: 'minor' }) => void
  let next = 0
  const churn = (values: number) => {
    for (const end = next + values; next < end; next++) {
      map.set(
        next,
        Array.from({ length: VALUE_BYTES / 8 }, () => next),
      )
      map.delete(next - LIVE_VALUES)
      if (next % 150 === 0) collect({ type: 'minor' })
    }
  }
  churn(LIVE_VALUES)
  collect()
  const before = oldSpaceBytes()
  churn(VALUES)
  return oldSpaceBytes() - before
}

describe('createCellMap', () => {
  it('holds the same entries as a Map', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const cells = createCellMap<number, number>()
        const map = new Map<number, number>()
        for (const [index, { kind, key }] of steps.entries()) {
          for (const one of [cells, map]) kind === 'set' ? one.set(key, index) : one.delete(key)
          expect([cells.get(key), cells.has(key)]).toEqual([map.get(key), map.has(key)])
          expect(cells.entries()).toEqual([...map])
          expect(cells.values()).toEqual([...map.values()])
        }
      }),
    )
  })

  it('lets deleted values be collected before they reach the old generation', () => {
    expect(oldGenerationGrowth(createCellMap())).toBeLessThan((VALUES * VALUE_BYTES) / 8)
  })
})
