import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRecencyList, type Linked } from './recency-list.ts'

interface Thing extends Linked<Thing> {
  readonly name: number
}

const THINGS = 6

describe('a recency list', () => {
  it('gives out what was touched longest ago, whatever was touched and removed', () => {
    const step = fc.record({ name: fc.nat(THINGS - 1), isRemoved: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const list = createRecencyList<Thing>()
        const things = Array.from(
          { length: THINGS },
          (_, name): Thing => ({ name, older: undefined, newer: undefined }),
        )
        let model: number[] = []
        for (const { name, isRemoved } of steps) {
          const thing = things[name] as Thing
          model = model.filter((other) => other !== name)
          if (isRemoved) list.remove(thing)
          else {
            list.touch(thing)
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

  it('is empty once it is cleared', () => {
    const list = createRecencyList<Thing>()
    list.touch({ name: 1, older: undefined, newer: undefined })
    list.clear()

    expect(list.oldest()).toBeUndefined()
  })
})
