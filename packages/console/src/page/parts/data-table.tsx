import type { ComponentChildren } from 'preact'
import { Empty } from './basics.tsx'
import { Scroll } from './scroll.tsx'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: true
}

/** Rows with the same columns; the first column names the row. */
export function DataTable<Row>({
  rows,
  columns,
  caption,
  empty,
  keyOf,
}: {
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly caption: string
  readonly empty: string
  readonly keyOf: (row: Row) => string
}) {
  if (rows.length === 0) return <Empty>{empty}</Empty>
  const classOf = ({ isNumber }: Column<Row>) => (isNumber ? 'number' : 'long')
  return (
    <Scroll label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={column.isNumber ? 'number' : undefined}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, at) =>
                at === 0 ? (
                  <th key={column.head} scope="row">
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.head} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
