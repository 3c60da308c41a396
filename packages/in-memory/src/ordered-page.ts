import { AppError, type Page, type PageQuery } from '@perdure/ports'

/** Where a record stands in its list: by rank, ties by id. */
export type Place = readonly [rank: number, id: string]

/** Records sorted by their place. */
export interface Ordered<T> {
  readonly records: readonly T[]
  readonly placeOf: (record: T) => Place
}

/** How many records lie before the place. */
export function countBefore<T>({ records, placeOf }: Ordered<T>, place: Place): number {
  let low = 0
  let high = records.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (comparePlaces(placeOf(records[middle] as T), place) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The records beyond the cursor that match, and a cursor when more follow. */
export function takePage<T>(ordered: Ordered<T>, query: PageQuery, matches: (record: T) => boolean): Page<T> {
  const { records, placeOf } = ordered
  const step = query.order === 'asc' ? 1 : -1
  const items: T[] = []
  for (let index = startOf(ordered, query); index >= 0 && index < records.length; index += step) {
    const record = records[index] as T
    if (!matches(record)) continue
    if (items.length === query.limit) return { items, nextCursor: encodeCursor(placeOf(items.at(-1) as T)) }
    items.push(record)
  }
  return { items, nextCursor: null }
}

function startOf<T>(ordered: Ordered<T>, { cursor, order }: PageQuery): number {
  const { records, placeOf } = ordered
  if (cursor === undefined) return order === 'asc' ? 0 : records.length - 1
  const place = decodeCursor(cursor)
  const index = countBefore(ordered, place)
  if (order === 'desc') return index - 1
  const record = records[index]
  return record !== undefined && comparePlaces(placeOf(record), place) === 0 ? index + 1 : index
}

function comparePlaces([rank, id]: Place, [otherRank, otherId]: Place): number {
  if (rank !== otherRank) return rank - otherRank
  if (id === otherId) return 0
  return id < otherId ? -1 : 1
}

const encodeCursor = ([rank, id]: Place): string => `${rank}.${id}`

function decodeCursor(cursor: string): Place {
  const match = /^(-?\d+)\.(.+)$/s.exec(cursor)
  if (match === null) throw new AppError('validation-failed', { message: 'the cursor was not made by this server' })
  return [Number(match[1]), match[2] as string]
}
