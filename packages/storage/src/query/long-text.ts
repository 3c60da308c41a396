import { type JsonText, MAX_SHORT_BYTES } from '@perdure/ports'
import { type AliasedRawBuilder, sql } from 'kysely'
import { rowBytes } from './page.ts'
import type { TextRef } from './text-ref.ts'

/** A long text that was not read. */
export interface UnreadText {
  readonly bytes: number
  readonly ref: TextRef
}

/** A record in which the named members may not have been read. */
export type WithUnread<T, Name extends keyof T> = {
  [Member in keyof T]: Member extends Name ? T[Member] | UnreadText : T[Member]
}

/** The values of `longText`. */
export type LongTextColumns<Name extends string> = { readonly [Column in Name]: string | null } & {
  readonly [Column in `${Name}_bytes`]: number | null
}

/**
 * Selects a text column only where it is short, and its length. Both databases find the length of a long text
 * without reading the text.
 */
export const longText = <Name extends string>(
  column: Name,
  table: string,
): [AliasedRawBuilder<string | null, Name>, AliasedRawBuilder<number | null, `${Name}_bytes`>] => {
  const text = sql.ref(`${table}.${column}`)
  return [
    sql<string | null>`case when octet_length(${text}) <= ${sql.lit(MAX_SHORT_BYTES)} then ${text} end`.as(column),
    sql<number | null>`octet_length(${text})`.as(`${column}_bytes`),
  ]
}

/** The text of a column selected by `longText`; undefined if the column is null. */
export function toText<Name extends string>(
  row: LongTextColumns<Name>,
  column: Name,
  ref: TextRef,
): JsonText | UnreadText | undefined {
  const { [column]: text, [`${column}_bytes` as const]: bytes } = row as Record<string, string | number | null>
  if (bytes === null) return undefined
  return text === null ? { bytes: Number(bytes), ref } : (text as JsonText)
}

/** Like `rowBytes`, for a row with columns selected by `longText`. */
export const outlinedBytes =
  (columns: readonly string[]) =>
  (row: object): number => {
    const values = row as Record<string, string | number | null>
    const unread = columns.map((column) => (values[column] === null ? Number(values[`${column}_bytes`]) : 0))
    return unread.reduce((sum, bytes) => sum + bytes, rowBytes(row))
  }
