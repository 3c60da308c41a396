import { describe, expect, it } from 'vitest'
import { type Ordered, type Place, takePage } from './ordered-page.ts'

const ordered: Ordered<Place> = {
  records: [
    [-5, 'b'],
    [1, 'a.b'],
    [1, 'c'],
    [7, 'a'],
  ],
  placeOf: (place) => place,
}
const everything = () => true

describe('takePage', () => {
  it('goes on from the place of a cursor whose record is not there, in both orders', () => {
    const page = (order: 'asc' | 'desc') => takePage(ordered, { limit: 10, order, cursor: '1.b' }, everything)

    expect(page('asc').items).toEqual(ordered.records.slice(2))
    expect(page('desc').items).toEqual(ordered.records.slice(0, 2).reverse())
  })

  it('makes cursors it can read back, whatever the id and the sign of the rank', () => {
    for (const [index] of ordered.records.slice(0, -1).entries()) {
      const { nextCursor } = takePage(ordered, { limit: index + 1, order: 'asc' }, everything)
      const rest = takePage(ordered, { limit: 10, order: 'asc', cursor: nextCursor ?? undefined }, everything)

      expect(rest.items).toEqual(ordered.records.slice(index + 1))
    }
  })

  it('looks past the records that do not match for one that needs a cursor', () => {
    const isFirstOrLast = ([rank]: Place) => rank !== 1

    expect(takePage(ordered, { limit: 1, order: 'asc' }, isFirstOrLast).nextCursor).not.toBeNull()
    expect(takePage(ordered, { limit: 2, order: 'asc' }, isFirstOrLast).nextCursor).toBeNull()
  })
})
