import { type Page, type PageQuery, perdureError, takeWithinPage } from '@perdure/ports'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Param } from './compile.ts'

/** The parameters of a page. A list is ordered by a number (the rank), then by id. */
export interface PageValues {
  readonly limit: number
  readonly afterRank: number
  readonly afterId: string
}

/** Cache key of the conditions that a page adds to a query. */
export const pageVariant = ({ order, cursor }: PageQuery): string => (cursor === undefined ? order : `${order} beyond`)

/** Reads one row more than the limit, to detect whether another page follows. */
export function pageValues({ limit, cursor }: PageQuery): PageValues {
  const [afterRank, afterId] = cursor === undefined ? [0, ''] : decodeCursor(cursor)
  return { limit: limit + 1, afterRank, afterId }
}

/** The rows beyond the cursor of a list ordered by `created_at, id`. */
export const isBeyond = (param: Param<PageValues>, { order }: PageQuery): RawBuilder<SqlBool> =>
  order === 'asc'
    ? sql`(created_at, id) > (${param('afterRank')}, ${param('afterId')})`
    : sql`(created_at, id) < (${param('afterRank')}, ${param('afterId')})`

export interface PageOf<Row, T> {
  readonly toRecord: (row: Row) => T
  readonly rankOf: (row: Row) => number
  /** Measures the content of a row; by default with `rowBytes`. */
  readonly bytesOf?: (row: Row) => number
}

/** Reads the rows of the page, and at most one more. */
export function toPage<Row extends { readonly id: string }, T>(
  rows: Iterable<Row>,
  { limit }: PageQuery,
  { toRecord, rankOf, bytesOf: measure = rowBytes }: PageOf<Row, T>,
): Page<T> {
  const { items, hasMore } = takeWithinPage(rows, limit, measure)
  const last = items.at(-1)
  return { items: items.map(toRecord), nextCursor: hasMore && last !== undefined ? `${rankOf(last)}.${last.id}` : null }
}

/** Total length of the texts in a row, in bytes of UTF-8. */
export function rowBytes(row: object): number {
  let bytes = 0
  for (const value of Object.values(row)) bytes += bytesOf(value)
  return bytes
}

const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return Array.isArray(value) ? value.reduce((sum: number, member) => sum + bytesOf(member), 0) : 0
}

function decodeCursor(cursor: string): readonly [rank: number, id: string] {
  const match = /^(-?\d{1,16})\.(.+)$/s.exec(cursor)
  if (match === null) throw perdureError('validation-failed', { message: 'The cursor was not issued by this server.' })
  return [Number(match[1]), match[2] as string]
}
