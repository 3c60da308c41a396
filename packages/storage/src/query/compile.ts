import { createQueryId, type RawBuilder, type RootOperationNode } from 'kysely'
import type { Built, Dialect, Query, Statement } from './dialect.ts'

export type { Built, Query, Statement } from './dialect.ts'

/** Creates a named parameter, whose value is bound when the query runs. */
export type Param<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>

const NAME = Symbol('parameter name')

/** Each execution binds every `param`. */
export function compile<Values, Row>(
  build: (param: Param<Values>, dialect: Dialect) => Built<Row>,
): Query<Values, Row> {
  const known: Partial<Record<Dialect['name'], Statement<Values>>> = {}
  return {
    in(dialect) {
      known[dialect.name] ??= compileNow(
        build((name) => dialect.parameter({ [NAME]: name }) as RawBuilder<Values[typeof name]>, dialect),
        dialect,
      )
      return known[dialect.name] as Statement<Values>
    },
  }
}

/** A query of one database, which needs no builder. */
export const statement = <Values = undefined, Row = unknown>(
  text: string,
  bind: (values: Values) => unknown[] = () => [],
): Query<Values, Row> => {
  const fixed = { text, bind }
  return { in: () => fixed }
}

function compileNow<Values, Row>(query: Built<Row>, dialect: Dialect): Statement<Values> {
  const node = query.toOperationNode() as RootOperationNode
  const { sql: text, parameters } = dialect.compiler.compileQuery(node, createQueryId())
  const slots = parameters.map((value) => ({ name: paramName(value) as keyof Values | undefined, value }))
  return {
    text,
    bind: (values) => slots.map(({ name, value }) => dialect.toValue(name === undefined ? value : values[name])),
  }
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
