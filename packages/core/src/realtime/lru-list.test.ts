import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLruList, type LruNode } from './lru-list.ts'

interface Item extends LruNode<Item> {
  readonly name: number
}

const ITEMS = 6

describe('createLruList', () => {
  it('returns the node that was touched longest ago, under random touches and removals', () => {
    const step = fc.record({ name: fc.nat(ITEMS - 1), isRemoved: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const list = createLruList<Item>()
        const items = Array.from({ length: ITEMS }, (_, name): Item => ({ name, older: undefined, newer: undefined }))
        let model: number[] = []
        for (const { name, isRemoved } of steps) {
          const item = items[name] as Item
          model = model.filter((other) => other !== name)
          if (isRemoved) list.remove(item)
          else {
            list.touch(item)
            model.push(name)
          }
          expect(list.oldest()?.name).toBe(model[0])
        }
        const left: number[] = []
        for (let oldest = list.oldest(); oldest !== undefined; oldest = list.oldest()) {
          left.push(oldest.name)
          list.remove(oldest)
        }
        expect(left).toEqual(model)
      }),
    )
  })

  it('is empty after clear', () => {
    const list = createLruList<Item>()
    list.touch({ name: 1, older: undefined, newer: undefined })
    list.clear()

    expect(list.oldest()).toBeUndefined()
  })
})
