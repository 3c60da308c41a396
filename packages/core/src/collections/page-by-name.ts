import { type Page, type PageQuery, takeWithinPage } from '@perdure/ports'

/** A page of items that are sorted by a unique name; the cursor is the last name of the previous page. */
export function pageByName<T>(
  byName: readonly T[],
  nameOf: (item: T) => string,
  { limit, cursor, order }: PageQuery,
): Page<T> {
  const all = order === 'asc' ? byName : byName.toReversed()
  const isBeyond = (name: string, last: string) => (order === 'asc' ? name > last : name < last)
  const start = cursor === undefined ? 0 : all.findIndex((item) => isBeyond(nameOf(item), cursor))
  const { items, hasMore } = takeWithinPage(start === -1 ? [] : all.slice(start), limit)
  const last = items.at(-1)
  return { items, nextCursor: hasMore && last !== undefined ? nameOf(last) : null }
}
