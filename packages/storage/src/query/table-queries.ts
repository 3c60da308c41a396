import type { PageQuery, Visibility } from '@perdure/ports'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Pending } from '../program.ts'
import { type Built, compile, type Param, type Query } from './compile.ts'
import type { Db, Dialect } from './dialect.ts'
import { isBeyond, type PageValues } from './page.ts'
import { type AccessTests, type AccessValues, accessValues, isVisible, visibilityVariant } from './row-visibility.ts'
import type { Schema } from './schema.ts'

type TableName = keyof Schema

export interface ById {
  readonly id: string
}

/** Inserts a row, unless the table has a row with the same `conflict`, or with the same key of any unique index. */
export const insertInto = <Row>(
  table: TableName,
  columns: readonly (keyof Row & string)[],
  conflict?: keyof Row & string,
): Query<Row, unknown> =>
  compile((param) => {
    const names = sql.join(columns.map((column) => sql.ref(column)))
    const values = sql.join(columns.map((column) => param(column)))
    const target = conflict === undefined ? sql`` : sql`(${sql.ref(conflict)})`
    return sql`insert into ${sql.table(table)} (${names}) values (${values}) on conflict ${target} do nothing`
  })

export const selectById = <Row>(table: TableName): Query<ById, Row> =>
  compile((param) => sql`select * from ${sql.table(table)} where id = ${param('id')}`)

/** Finds a row by its id, if the caller may see it. */
export const visibleRow =
  <Row>(table: TableName, access: AccessTests, columns: readonly string[] = []) =>
  (db: Db, id: string, visibility: Visibility): Pending<Row | undefined> => {
    const query = db.variant(`visible ${table} ${visibilityVariant(visibility)}`, () =>
      compile<AccessValues & ById, Row>((param, dialect) => {
        const visible = isVisible(visibility, access, { param, dialect })
        return sql`select ${selected(columns)} from ${sql.table(table)} where id = ${param('id')} and ${visible}`
      }),
    )
    return db.get(query, { ...accessValues(visibility), id })
  }

const selected = (columns: readonly string[]) =>
  columns.length === 0 ? sql`*` : sql.join(columns.map((column) => sql.ref(column)))

/** Deletes the rows whose column has the value `id`. */
export const deleteBy = (column: string, table: TableName): Query<ById, unknown> =>
  compile((param) => sql`delete from ${sql.table(table)} where ${sql.ref(column)} = ${param('id')}`)

type Where<Values> = (param: Param<Values>, dialect: Dialect) => readonly RawBuilder<SqlBool>[]

interface RowsQuery<Values> {
  /** By default all rows. */
  readonly where?: Where<Values>
  readonly order: readonly string[]
  /** By default all. */
  readonly columns?: readonly string[]
  /** The long texts of a row, which bound the rows to those of a page. */
  readonly texts?: readonly string[]
}

/** The first rows of a table. */
export const selectRows = <Values extends { readonly limit: number }, Row>(
  table: TableName,
  query: RowsQuery<Values>,
): Query<Values, Row> => compile((param, dialect) => rowsOf(table, query, { param, dialect, direction: sql`asc` }))

/** A list of rows in the order of their creation. */
export const listQuery = <Values extends PageValues, Row>(
  table: TableName,
  { page, where = () => [], ...rest }: Omit<RowsQuery<Values>, 'order'> & { readonly page: PageQuery },
): Query<Values, Row> =>
  compile((param, dialect) => {
    const isInPage: Where<Values> = () => [
      ...where(param, dialect),
      ...(page.cursor === undefined ? [] : [isBeyond(param, page)]),
    ]
    const direction = page.order === 'asc' ? sql`asc` : sql`desc`
    return rowsOf(table, { ...rest, where: isInPage, order: ['created_at', 'id'] }, { param, dialect, direction })
  })

interface Building<Values> {
  readonly param: Param<Values>
  readonly dialect: Dialect
  readonly direction: RawBuilder<unknown>
}

function rowsOf<Values extends { readonly limit: number }, Row>(
  table: TableName,
  { where = () => [], order, columns = [], texts = [] }: RowsQuery<Values>,
  { param, dialect, direction }: Building<Values>,
): Built<Row> {
  const conditions = where(param, dialect)
  const query = sql<Row>`select ${selected(columns)} from ${sql.table(table)}
    ${conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`}
    order by ${sql.join(order.map((column) => sql`${sql.ref(column)} ${direction}`))} limit ${param('limit')}`
  return texts.length === 0 ? query : dialect.bounded(query, texts)
}

/** The smallest value of a column that is not null. */
export const selectFirst = <Column extends string, Values = object>(
  column: Column,
  table: TableName,
  where: Where<Values> = () => [],
): Query<Values, Readonly<Record<Column, number>>> =>
  compile((param, dialect) => {
    const conditions = sql.join([...where(param, dialect), sql`${sql.ref(column)} is not null`], sql` and `)
    return sql`select ${sql.ref(column)} from ${sql.table(table)} where ${conditions} order by ${sql.ref(column)} limit 1`
  })

/** Sets the columns whose parameters are not null. */
export const setGiven = <Values, Column extends keyof Values & string>(
  param: Param<Values>,
  columns: readonly Column[],
): Record<Column, RawBuilder<never>> =>
  Object.fromEntries(columns.map((column) => [column, sql`coalesce(${param(column)}, ${sql.ref(column)})`])) as Record<
    Column,
    RawBuilder<never>
  >

/** Deletes up to `limit` rows. `rows` has the condition, and the order if it matters. */
export const pruneQuery = <Values extends { readonly limit: number }>(
  table: TableName,
  rows: (param: Param<Values>, dialect: Dialect) => RawBuilder<unknown>,
  key: (dialect: Dialect) => string = () => 'id',
): Query<Values, unknown> =>
  compile((param, dialect) => {
    const column = key(dialect)
    const selected = sql`select ${sql.ref(column)} from ${sql.table(table)} where ${rows(param, dialect)} limit ${param('limit')}`
    return sql`delete from ${sql.table(table)} where ${dialect.isSelected(column, selected)}`
  })
