import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHeap } from './heap.ts'

const createNumbers = () => createHeap<number>((one, other) => one < other)

describe('createHeap', () => {
  it('returns its items in order, whatever the order of additions and removals', () => {
    const command = fc.record({ kind: fc.constantFrom('add', 'add', 'remove', 'take'), value: fc.nat({ max: 200 }) })
    fc.assert(
      fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
        const heap = createNumbers()
        let expected: number[] = []
        for (const { kind, value } of commands) {
          const chosen = kind === 'take' ? expected[0] : value
          if (chosen === undefined) continue
          if (kind === 'add' && !heap.has(value)) {
            heap.add(value)
            expected = [...expected, value].sort((one, other) => one - other)
          } else if (kind !== 'add') {
            heap.remove(chosen)
            expected = expected.filter((one) => one !== chosen)
          }
          expect([heap.first, heap.size]).toEqual([expected[0], expected.length])
        }
        expect([...heap.items()].sort((one, other) => one - other)).toEqual(expected)
      }),
    )
  })

  it('adds and removes 100,000 items in less than linear time each', () => {
    const heap = createNumbers()
    const startedAt = performance.now()
    for (let value = 100_000; value > 0; value--) heap.add(value)
    for (let value = 1; value <= 100_000; value++) {
      expect(heap.first === value).toBe(true)
      heap.remove(value)
    }
    // Linear time for each item would take many times longer; the bound only catches a hang.
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})
