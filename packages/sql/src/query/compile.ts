import type { Compilable, RawBuilder } from 'kysely'

/** A compiled query that takes `Values` and yields rows of `Row`. */
export interface Query<Values, Row> {
  readonly sql: string
  /** Returns the values in the order of the placeholders. */
  bind(values: Values): unknown[]
  readonly row?: Row // type only
}

/** Creates a named parameter, whose value is bound when the query runs. */
export type Param<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>

const NAME = Symbol('parameter name')

/**
 * Compiles a query at its first use, because each thread uses only a few queries, and a starting server hardly any. Each
 * execution binds every `param`.
 */
export type Compile = <Values, Row>(build: (param: Param<Values>) => Compilable<Row>) => Query<Values, Row>

/** @param toText writes a parameter into the text of a query, as the planner of the database needs it */
export const createCompile =
  (toText: (parameter: unknown) => RawBuilder<unknown>): Compile =>
  <Values, Row>(build: (param: Param<Values>) => Compilable<Row>): Query<Values, Row> => {
    let known: Compiled<Values> | undefined
    const compiled = (): Compiled<Values> => {
      known ??= compileNow(build((name) => toText({ [NAME]: name }) as RawBuilder<Values[typeof name]>))
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

function compileNow<Values, Row>(query: Compilable<Row>): Compiled<Values> {
  const { sql: text, parameters } = query.compile()
  return { text, slots: parameters.map((value) => ({ name: paramName(value) as keyof Values | undefined, value })) }
}

/** A parameter for each column, named after the column. */
export const paramsFor = <Values, Column extends keyof Values & string>(
  param: Param<Values>,
  columns: readonly Column[],
): { readonly [Name in Column]: RawBuilder<Values[Name]> } =>
  Object.fromEntries(columns.map((column) => [column, param(column)])) as {
    readonly [Name in Column]: RawBuilder<Values[Name]>
  }

const paramName = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && NAME in value ? value[NAME] : undefined
