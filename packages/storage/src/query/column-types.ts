export type ColumnType = 'text' | 'bigint' | 'integer'

/** The columns of a table, or of a set of rows, with their types. */
export type ColumnTypes<Row> = { readonly [Column in keyof Row & string]: ColumnType }

export const columnsOf = <Row>(types: ColumnTypes<Row>): (keyof Row & string)[] =>
  Object.keys(types) as (keyof Row & string)[]

export const pickTypes = <Row, Column extends keyof Row & string>(
  types: ColumnTypes<Row>,
  columns: readonly Column[],
): ColumnTypes<Pick<Row, Column>> =>
  Object.fromEntries(columns.map((column) => [column, types[column]])) as ColumnTypes<Pick<Row, Column>>
