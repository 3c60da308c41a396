import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBoundedMap } from './bounded-map.ts'

const step = fc.record({
  kind: fc.constantFrom('set' as const, 'delete' as const, 'get' as const),
  key: fc.integer({ min: 0, max: 9 }),
})

describe('createBoundedMap', () => {
  it('keeps the entries that were set last, whatever was deleted in between', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 200 }), (max, steps) => {
        const map = createBoundedMap<number, number>(max)
        let model: (readonly [number, number])[] = []
        for (const [index, { kind, key }] of steps.entries()) {
          if (kind === 'get') expect(map.get(key)).toBe(model.find(([known]) => known === key)?.[1])
          const others = model.filter(([known]) => known !== key)
          if (kind === 'delete') {
            map.delete(key)
            model = others
          }
          if (kind === 'set') {
            map.set(key, index)
            model = [...others, [key, index] as const].slice(-max)
          }
          expect(map.size()).toBe(model.length)
          for (const [known, value] of model) expect(map.get(known)).toBe(value)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('never grows beyond its bound', () => {
    const map = createBoundedMap<number, number>(1_000)
    for (let n = 0; n < 1_000_000; n++) map.set(n, n)

    expect(map.size()).toBe(1_000)
    expect([map.get(998_999), map.get(999_000)]).toEqual([undefined, 999_000])
  })
})
