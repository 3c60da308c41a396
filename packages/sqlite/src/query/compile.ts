import {
  type Compilable,
  DummyDriver,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { Schema } from './schema.ts'

/** Builds queries and never executes one: `Connection` does. */
export const from = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

/** A compiled query that takes `Values` and yields rows of `Row`. */
export interface Query<Values, Row> {
  readonly sql: string
  /** The values in the order of the placeholders. */
  bind(values: Values): unknown[]
  readonly row?: Row // type only
}

/** Stands in a query for a value that is given when it runs. */
export type Place<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>

const NAME = Symbol('name of the value')

/**
 * Compiles a query once, when it is first needed: a thread needs few of them, and a server that starts hardly any. Every
 * `place` in it is filled at each execution. The `+` hides the value from the planner: SQLite compiles a statement anew at
 * each execution when its plan may depend on a bound value.
 */
export function compile<Values, Row>(build: (place: Place<Values>) => Compilable<Row>): Query<Values, Row> {
  let known: Compiled<Values> | undefined
  const compiled = (): Compiled<Values> => {
    known ??= compileNow(build)
    return known
  }
  return {
    get sql() {
      return compiled().text
    },
    bind: (values) => compiled().slots.map(({ name, value }) => (name === undefined ? value : values[name])),
  }
}

interface Compiled<Values> {
  readonly text: string
  readonly slots: readonly { readonly name: keyof Values | undefined; readonly value: unknown }[]
}

function compileNow<Values, Row>(build: (place: Place<Values>) => Compilable<Row>): Compiled<Values> {
  const { sql: text, parameters } = build((name) => sql`+${{ [NAME]: name }}`).compile()
  return { text, slots: parameters.map((value) => ({ name: placeName(value) as keyof Values | undefined, value })) }
}

/** A fixed statement without values. */
export const statement = (text: string): Query<undefined, unknown> => ({ sql: text, bind: () => [] })

/** A place for each column, named after it. */
export const placesFor = <Values, Column extends keyof Values & string>(
  place: Place<Values>,
  columns: readonly Column[],
): { readonly [Name in Column]: RawBuilder<Values[Name]> } =>
  Object.fromEntries(columns.map((column) => [column, place(column)])) as {
    readonly [Name in Column]: RawBuilder<Values[Name]>
  }

const placeName = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && NAME in value ? value[NAME] : undefined
