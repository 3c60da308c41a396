import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLinkedList, type ListNode } from './linked-list.ts'

describe('createLinkedList', () => {
  it('keeps the order and the positions of an array under any pushes and removals', () => {
    const command = fc.oneof(
      fc.constant({ kind: 'push' as const, pick: 0 }),
      fc.record({ kind: fc.constant('remove' as const), pick: fc.nat() }),
    )
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const list = createLinkedList<number>()
        const model: ListNode<number>[] = []
        let count = 0
        for (const { kind, pick } of commands) {
          if (kind === 'push') model.push(list.push(count++))
          else {
            const [node] = model.splice(pick % Math.max(1, model.length), 1)
            if (node !== undefined) list.remove(node)
          }
          expect(itemsOf(list.first)).toEqual(model.map(({ item }) => item))
          expect([list.size, list.first, list.last]).toEqual([model.length, model[0], model.at(-1)])
          expect(model.map((node) => list.positionOf(node))).toEqual(model.map((_, index) => index + 1))
        }
      }),
    )
  })
})

function itemsOf(first: ListNode<number> | undefined): readonly number[] {
  const items: number[] = []
  for (let node = first; node !== undefined; node = node.next) items.push(node.item)
  return items
}
