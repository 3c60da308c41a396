import { createCompile, type Query } from '@perdure/sql'
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Builds queries; `Connection` executes them. */
export const from = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

/**
 * The `+` hides the value from the planner: SQLite would recompile the statement at each execution if its plan could
 * depend on a bound value.
 */
export const compile = createCompile((parameter) => sql`+${parameter}`)

/** A fixed statement without values. */
export const statement = (text: string): Query<undefined, unknown> => ({ sql: text, bind: () => [] })
