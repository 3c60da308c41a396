import { type ColumnType, type ColumnTypes, columnsOf, type Query, statement } from '@perdure/storage'

type RowSet<Row> = Query<readonly Row[], unknown>

/** Inserts rows that are given as one list per column. */
export function insertRows<Row>(table: string, columns: ColumnTypes<Row>, conflict = ''): RowSet<Row> {
  const names = columnsOf(columns)
  const sql = `insert into ${table} (${quoted(names)}) select * from ${unnest(columns)} as new ${conflict}`
  return rowSet(sql, names)
}

/**
 * Changes the rows with the given keys. A column that is null stays unchanged; a column with the value in `removed`
 * becomes null.
 */
export function updateRows<Row>(
  table: string,
  columns: ColumnTypes<Row>,
  keys: readonly (keyof Row & string)[],
  removed: { readonly [Column in keyof Row & string]?: string } = {},
): RowSet<Row> {
  const names = columnsOf(columns)
  const changes = names
    .filter((name) => !keys.includes(name))
    .map((name) => {
      const value = `coalesce(new."${name}", old."${name}")`
      return `"${name}" = ${removed[name] === undefined ? value : `nullif(${value}, '${removed[name]}')`}`
    })
  const sql = `update ${table} as old set ${changes.join(', ')}
    from ${unnest(columns)} as new (${quoted(names)})
    where ${keys.map((name) => `old."${name}" = new."${name}"`).join(' and ')}`
  return rowSet(sql, names)
}

/** Names the columns of lists in a `from` clause. */
export const unnest = (columns: Readonly<Record<string, ColumnType>>, firstParam = 1): string =>
  `unnest(${Object.values(columns)
    .map((type, index) => `$${index + firstParam}::${type}[]`)
    .join(', ')})`

export const rowSet = <Row>(sql: string, names: readonly (keyof Row & string)[]): RowSet<Row> =>
  statement(sql, (rows) => names.map((name) => rows.map((row) => row[name])))

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
