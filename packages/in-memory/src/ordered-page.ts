import { AppError, type Page, type PageQuery } from '@perdure/ports'

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

/** Returns a page of the matching records after the cursor, and a cursor if more matching records follow. */
export function takePage<T>(ordered: Ordered<T>, query: PageQuery, matches: (record: T) => boolean): Page<T> {
  const { records, sortKeyOf } = ordered
  const step = query.order === 'asc' ? 1 : -1
  const items: T[] = []
  for (let index = startOf(ordered, query); index >= 0 && index < records.length; index += step) {
    const record = records[index] as T
    if (!matches(record)) continue
    if (items.length === query.limit) return { items, nextCursor: encodeCursor(sortKeyOf(items.at(-1) as T)) }
    items.push(record)
  }
  return { items, nextCursor: null }
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
  if (match === null) throw new AppError('validation-failed', { message: 'The cursor was not issued by this server.' })
  return [Number(match[1]), match[2] as string]
}
