import { contentBytes, type Page, type PageQuery, perdureError, takeWithinPage } from '@perdure/ports'

/** Sort key of a record: rank, then id. */
export type SortKey = readonly [rank: number, id: string]

/** Records sorted by `sortKeyOf`. */
export interface Ordered<T> {
  readonly records: readonly T[]
  readonly sortKeyOf: (record: T) => SortKey
}

/** Number of records before the sort key. */
export function countBefore<T>({ records, sortKeyOf }: Ordered<T>, sortKey: SortKey): number {
  let low = 0
  let high = records.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareSortKeys(sortKeyOf(records[middle] as T), sortKey) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Which records a page holds, and what it shows of them. */
export interface Selection<T, Shown = T> {
  readonly matches: (record: T) => boolean
  readonly show: (record: T) => Shown
}

/** Returns a page of the matching records after the cursor, and a cursor if more matching records follow. */
export function takePage<T, Shown = T>(
  ordered: Ordered<T>,
  query: PageQuery,
  { matches, show }: Selection<T, Shown>,
): Page<Shown> {
  const shown = takeWithinPage(matchingFrom(ordered, query, { matches, show }), query.limit, ({ item }) =>
    contentBytes(item),
  )
  const last = shown.items.at(-1)
  return {
    items: shown.items.map(({ item }) => item),
    nextCursor: shown.hasMore && last !== undefined ? encodeCursor(ordered.sortKeyOf(last.record)) : null,
  }
}

function* matchingFrom<T, Shown>(
  ordered: Ordered<T>,
  query: PageQuery,
  { matches, show }: Selection<T, Shown>,
): Generator<{ readonly record: T; readonly item: Shown }, void, void> {
  const { records } = ordered
  const step = query.order === 'asc' ? 1 : -1
  for (let index = startOf(ordered, query); index >= 0 && index < records.length; index += step) {
    const record = records[index] as T
    if (matches(record)) yield { record, item: show(record) }
  }
}

function startOf<T>(ordered: Ordered<T>, { cursor, order }: PageQuery): number {
  const { records, sortKeyOf } = ordered
  if (cursor === undefined) return order === 'asc' ? 0 : records.length - 1
  const sortKey = decodeCursor(cursor)
  const index = countBefore(ordered, sortKey)
  if (order === 'desc') return index - 1
  const record = records[index]
  return record !== undefined && compareSortKeys(sortKeyOf(record), sortKey) === 0 ? index + 1 : index
}

function compareSortKeys([rank, id]: SortKey, [otherRank, otherId]: SortKey): number {
  if (rank !== otherRank) return rank - otherRank
  if (id === otherId) return 0
  return id < otherId ? -1 : 1
}

const encodeCursor = ([rank, id]: SortKey): string => `${rank}.${id}`

function decodeCursor(cursor: string): SortKey {
  const match = /^(-?\d+)\.(.+)$/s.exec(cursor)
  if (match === null) throw perdureError('validation-failed', { message: 'The cursor was not issued by this server.' })
  return [Number(match[1]), match[2] as string]
}
