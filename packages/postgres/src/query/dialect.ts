import type { Dialect } from '@perdure/storage'
import { PostgresQueryCompiler, type SqlBool, sql } from 'kysely'
import { kindOf } from '../connection/postgres-error.ts'
import { bounded } from './bounded.ts'
import { earlierClock } from './earlier-clock.ts'
import { POSTGRES_FACTS } from './facts.ts'
import { indexedValue } from './indexed-words.ts'
import { LOCK_SUBJECT, LOCKS } from './locks.ts'

const BY_ID: Pick<Dialect['run'], 'self' | 'of'> = {
  self: 'id',
  of: (id) => sql<never>`${id}`,
}

export const POSTGRES: Dialect = {
  name: 'postgres',
  compiler: new PostgresQueryCompiler(),
  locksRows: true,
  parameter: (marker) => sql`${marker}`,
  toValue: (value) => value,
  indexed: indexedValue,
  isOneOf: (column, values) => sql<SqlBool>`${sql.ref(column)} = any(${values})`,
  isSelected: (column, rows) => sql<SqlBool>`${sql.ref(column)} = any(array(${rows}))`,
  unindexed: (condition) => sql`((${condition}) is true)`,
  hidden: (column) => sql.ref(column),
  bounded,
  earlierClock,
  greatest: (left, right) => sql`greatest(${left}, ${right})`,
  rowId: 'id',
  orderedJoin: sql`join`,
  reached(name, table, ways) {
    const each = Object.entries(ways).map(
      ([alias, isReached]) =>
        sql`select ${sql.ref(`${alias}.id`)} from ${sql.table(table)} as ${sql.ref(alias)} where ${isReached}`,
    )
    return sql`select reached.id from ${sql.table(name)} cross join lateral (${sql.join(each, sql` union all `)}) as reached`
  },
  lock: (name) => LOCKS[name],
  lockSubject: LOCK_SUBJECT,
  jsonNumber: (column, member) => sql`(${sql.ref(column)}::json ->> ${sql.lit(member)})::double precision`,
  dayOf: (at) => sql`(${at} / 86400000)::integer`,
  isRejected: (error) => kindOf(error) === 'rejected',
  facts: POSTGRES_FACTS,
  run: { ...BY_ID, column: 'run_id', idOf: (table) => sql.ref(`${table}.run_id`), has: (matches) => matches('id') },
  session: { ...BY_ID, column: 'session_id', idOf: (table) => sql.ref(`${table}.session_id`) },
}
