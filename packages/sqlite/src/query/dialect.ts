import { type Built, compile, type Dialect } from '@perdure/storage'
import { type SqlBool, SqliteQueryCompiler, sql } from 'kysely'
import { isStatementError } from '../file/sqlite-error.ts'
import { SQLITE_FACTS } from './facts.ts'

/** Numbers a run, unless it has a number. */
export const ENTER_RUN = compile<{ id: string }, unknown>(
  (param) => sql`insert into run_keys (run_id) values (${param('id')}) on conflict do nothing`,
)

export const SQLITE: Dialect = {
  name: 'sqlite',
  compiler: new SqliteQueryCompiler(),
  locksRows: false,
  /** The `+` hides the value: SQLite would recompile the statement at each execution if its plan could depend on it. */
  parameter: (marker) => sql`+${marker}`,
  toValue: (value) => (Array.isArray(value) ? JSON.stringify(value) : value),
  indexed: (text) => text,
  isOneOf: (column, values) => sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${values}))`,
  isSelected: (column, rows) => sql<SqlBool>`${sql.ref(column)} in (${rows})`,
  unindexed: (condition) => sql`+${condition}`,
  hidden: (column) => sql`+${sql.ref(column)}`,
  bounded: <Row>(query: unknown) => query as Built<Row>,
  earlierClock: (now) => now,
  greatest: (left, right) => sql`max(${left}, ${right})`,
  rowId: 'key',
  orderedJoin: sql`cross join`,
  reached: (name, table, ways) =>
    sql.join(
      Object.entries(ways).map(
        ([alias, isReached]) =>
          sql`select ${sql.ref(`${alias}.id`)} from ${sql.table(name)} join ${sql.table(table)} as ${sql.ref(alias)} on ${isReached}`,
      ),
      sql` union `,
    ),
  lock: () => undefined,
  lockSubject: undefined,
  jsonNumber: (column, member) => sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${member}`)})`,
  dayOf: (at) => sql`cast(${at} as integer) / 86400000`,
  isRejected: isStatementError,
  facts: SQLITE_FACTS,
  run: {
    column: 'run_key',
    self: 'key',
    of: (id) => sql<never>`(select key from run_keys where run_id = ${id})`,
    has: (matches) => sql`key in (select key from run_keys where ${matches('run_id')})`,
    idOf: (table) => sql<string>`(select run_id from run_keys where key = ${sql.ref(`${table}.run_key`)})`,
    enter: ENTER_RUN,
    leave: compile<{ id: string }, unknown>((param) => sql`delete from run_keys where run_id = ${param('id')}`),
  },
  session: {
    column: 'session_key',
    self: 'key',
    of: (id) => sql<never>`(select key from sessions where id = ${id})`,
    idOf: (table) => sql<string>`(select id from sessions where key = ${sql.ref(`${table}.session_key`)})`,
  },
}
