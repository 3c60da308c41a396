import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Program } from '../program.ts'
import { compile, type Param, type Query } from './compile.ts'
import type { Db, Dialect } from './dialect.ts'
import { from } from './from.ts'

type Condition = RawBuilder<SqlBool>

/** A table that maps a value of a record to the record, sorted like the lists. */
export interface FieldIndex {
  readonly table: 'run_fields' | 'session_fields'
  readonly createdAt: 'run_at' | 'session_at'
  readonly records: 'runs' | 'sessions'
}

/** The parameters of the conditions on fields. */
export type FieldValues = Readonly<Record<`field${number}` | `value${number}`, string>>

export type Field = readonly [field: string, value: string]

export const fieldValues = (fields: readonly Field[], { indexed }: Dialect): FieldValues =>
  Object.fromEntries(
    fields.flatMap(([field, value], n) => [
      [`field${n}`, field],
      [`value${n}`, indexed(value)],
    ]),
  )

export type FieldPath = `field${number}`

export const isFieldPath = (path: string | undefined): path is FieldPath => path?.startsWith('field') ?? false

/**
 * The conditions on `count` fields. The list walks the index of one field and looks up the other fields for each
 * record.
 */
export const fieldConditions = (
  { table, createdAt, records }: FieldIndex,
  { count, path }: { readonly count: number; readonly path: string | undefined },
  { param, dialect }: { readonly param: Param<FieldValues>; readonly dialect: Dialect },
): Condition[] => {
  const { column: reference, self } = records === 'runs' ? dialect.run : dialect.session
  return Array.from({ length: count }, (_, n) => {
    const [field, value] = [param(`field${n}`), param(`value${n}`)]
    const column = (name: string) => sql.ref(`${table}.${name}`)
    if (path === `field${n}`) return sql`${column('field')} = ${field} and ${column('value')} = ${value}`
    return sql`exists (select 1 from ${sql.table(table)} as other where other.field = ${field} and other.value = ${value}
      and ${sql.ref(`other.${createdAt}`)} = ${sql.ref(`${records}.created_at`)}
      and ${sql.ref(`other.${reference}`)} = ${sql.ref(`${records}.${self}`)})`
  })
}

/** The rows of an index that a list can walk. */
export interface PathRows {
  readonly table: FieldIndex['table' | 'records']
  readonly where: readonly Condition[]
}

/** How many rows of each path are counted. A path with fewer rows is walked to its end within a few milliseconds. */
const COUNTED_ROWS = 2_000

/** Counts the rows of each path, up to `COUNTED_ROWS`. */
export const countQuery = <Values>(
  rowsOf: (param: Param<Values>, dialect: Dialect) => readonly PathRows[],
): Query<Values, Readonly<Record<string, number>>> =>
  compile((param, dialect) =>
    from.selectNoFrom(
      rowsOf(param, dialect).map(({ table, where }, n) => {
        const rows = sql`select 1 from ${sql.table(table)} where ${sql.join(where, sql` and `)} limit ${sql.lit(COUNTED_ROWS)}`
        return sql<number>`(select count(*) from (${rows}) as counted)`.as(`rows${n}`)
      }),
    ),
  )

export interface PathChoice<Path extends string, Values> {
  /** In order of preference: of two paths with as many rows, the list takes the first. */
  readonly paths: readonly Path[]
  readonly variant: string
  readonly values: Values
  readonly countQuery: () => Query<Values, Readonly<Record<string, number>>>
}

/** The path with the fewest rows; undefined if there are no paths. */
export function* shortestPath<Path extends string, Values>(
  db: Db,
  { paths, variant, values, countQuery }: PathChoice<Path, Values>,
): Program<Path | undefined> {
  if (paths.length < 2) return paths[0]
  const counts = (yield* db.get(db.variant(`count ${variant}`, countQuery), values)) ?? {}
  const rows = paths.map((_, n) => counts[`rows${n}`] ?? 0)
  return paths[rows.indexOf(Math.min(...rows))]
}
