import { utf8Length } from './values/json-text.ts'
import { isStoredText } from './values/stored-text.ts'

/**
 * Selects one page of a list. `cursor` is opaque to callers and comes from the same adapter.
 *
 * A page ends after `limit` records, or before the record whose content would bring the page above `MAX_PAGE_BYTES`. A
 * larger record is a page of its own. `nextCursor` continues after the last record of the page.
 */
export interface PageQuery {
  readonly limit: number // 1 to 200
  readonly cursor?: string | undefined
  readonly order: 'asc' | 'desc' // by creation
}

/** `nextCursor` is null only on the last page: a page with fewer than `limit` records may be followed by others. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** Upper limit for the content of a page: the total length of its texts, in bytes of UTF-8. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024

export interface PageStart<T> {
  readonly items: readonly T[]
  readonly hasMore: boolean
}

/**
 * Takes the records of one page. Takes at most one record beyond the page, to learn whether another page follows.
 *
 * @param bytesOf measures the content of a record; by default with `contentBytes`
 */
export const takeWithinPage = <T>(
  records: Iterable<T>,
  limit: number,
  bytesOf: (record: T) => number = contentBytes,
): PageStart<T> => takeWithin(records, { limit, maxBytes: MAX_PAGE_BYTES }, bytesOf)

/** As `takeWithinPage`, with an upper limit for the content. */
export function takeWithin<T>(
  records: Iterable<T>,
  { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
  bytesOf: (record: T) => number = contentBytes,
): PageStart<T> {
  const items: T[] = []
  let bytes = 0
  for (const record of records) {
    bytes += bytesOf(record)
    if (items.length === limit || (items.length > 0 && bytes > maxBytes)) return { items, hasMore: true }
    items.push(record)
  }
  return { items, hasMore: false }
}

/** Total length of all texts in a plain value, in bytes of UTF-8. A `StoredText` counts with its length. */
export function contentBytes(value: unknown): number {
  if (typeof value === 'string') return utf8Length(value)
  if (typeof value !== 'object' || value === null) return 0
  if (isStoredText(value)) return value.bytes
  return Object.values(value).reduce((sum: number, member) => sum + contentBytes(member), 0)
}
