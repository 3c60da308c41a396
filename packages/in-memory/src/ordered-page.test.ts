import { describe, expect, it } from 'vitest'
import { type Ordered, type SortKey, takePage } from './ordered-page.ts'

const ordered: Ordered<SortKey> = {
  records: [
    [-5, 'b'],
    [1, 'a.b'],
    [1, 'c'],
    [7, 'a'],
  ],
  sortKeyOf: (sortKey) => sortKey,
}
const show = (sortKey: SortKey) => sortKey
const everything = { matches: () => true, show }

describe('takePage', () => {
  it('continues after a cursor whose record no longer exists, in both orders', () => {
    const page = (order: 'asc' | 'desc') => takePage(ordered, { limit: 10, order, cursor: '1.b' }, everything)

    expect(page('asc').items).toEqual(ordered.records.slice(2))
    expect(page('desc').items).toEqual(ordered.records.slice(0, 2).reverse())
  })

  it('continues from each of its own cursors, whatever the id and the sign of the rank', () => {
    for (const [index] of ordered.records.slice(0, -1).entries()) {
      const { nextCursor } = takePage(ordered, { limit: index + 1, order: 'asc' }, everything)
      const rest = takePage(ordered, { limit: 10, order: 'asc', cursor: nextCursor ?? undefined }, everything)

      expect(rest.items).toEqual(ordered.records.slice(index + 1))
    }
  })

  it('returns a cursor only when another matching record follows', () => {
    const isFirstOrLast = { matches: ([rank]: SortKey) => rank !== 1, show }

    expect(takePage(ordered, { limit: 1, order: 'asc' }, isFirstOrLast).nextCursor).not.toBeNull()
    expect(takePage(ordered, { limit: 2, order: 'asc' }, isFirstOrLast).nextCursor).toBeNull()
  })
})
