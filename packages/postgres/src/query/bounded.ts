import { MAX_PAGE_BYTES } from '@perdure/ports'
import { type Expression, type RawBuilder, sql } from 'kysely'

/** A text may be longer in the database than in its record, because it may be escaped. */
const MAX_BYTES = 2 * MAX_PAGE_BYTES

/**
 * The rows of an ordered query up to the one with which the named texts are longer than `maxBytes`, by default a page; two rows if the first is
 * that long, so that the reader learns that more follow. The server finds the
 * length of a long text without reading it, so the texts after the page are never read.
 */
export const bounded = <Row>(
  query: Expression<Row>,
  texts: readonly string[],
  maxBytes: RawBuilder<unknown> = sql.lit(MAX_BYTES),
): RawBuilder<Row> => {
  const bytes = sql.join(
    texts.map((text) => sql`coalesce(octet_length(${sql.ref(`page.${text}`)}), 0)`),
    sql` + `,
  )
  const rows = sql`select page.*, sum(${bytes}) over (rows between unbounded preceding and 1 preceding)::float8 as bytes_before,
    row_number() over () as row_number from (${query}) as page`
  return sql<Row>`select * from (${rows}) as page where coalesce(bytes_before, 0) <= ${maxBytes} or row_number <= 2
        order by row_number`
}
