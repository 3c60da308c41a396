import { breakingChanges, type Components, type Side } from './compare-schemas.ts'
import type { Schema, Wire, WireOperation } from './snapshot.ts'

/** A change that can break a client or the setup of an operator. */
export interface BreakingChange {
  /** The id of an operation, or the name of an event, error, close code, scope, metric or configuration field. */
  readonly name: string
  readonly change: string
}

type Rows<Row> = Readonly<Record<string, Row>>

/** Returns what a client or an operator of the wire before must change. */
export function compareWires(before: Wire, after: Wire): readonly BreakingChange[] {
  const components: Components = { before: before.schemas, after: after.schemas }
  const schemas = (was: Rows<Schema>, is: Rows<Schema>, side: Side) =>
    Object.entries(was).flatMap(([key, schema]) => {
      const now = is[key]
      if (now === undefined) return [`${key} is gone`]
      return breakingChanges(schema, now, side, components).map((change) => `${key}${change}`)
    })

  const parameters = (was: WireOperation['parameters'], is: WireOperation['parameters']) => [
    ...Object.keys(was)
      .filter((key) => is[key] === undefined)
      .map((key) => `${key} is gone`),
    ...Object.entries(is).flatMap(([key, { required, schema }]) => {
      const isNewlyRequired = required && was[key]?.required !== true
      const changes = was[key] === undefined ? [] : breakingChanges(was[key].schema, schema, 'input', components)
      return [...(isNewlyRequired ? [`${key} is now required`] : []), ...changes.map((change) => `${key}${change}`)]
    }),
  ]

  return [
    ...rows(before.operations, after.operations, (was, is) => [
      ...differs(was.route, is.route, 'route'),
      ...differs(was.scope, is.scope, 'scope'),
      ...parameters(was.parameters, is.parameters),
      ...schemas(was.body, is.body, 'input').map((change) => `body ${change}`),
      ...(is.isBodyRequired && !was.isBodyRequired ? ['body is now required'] : []),
      ...schemas(was.responses, is.responses, 'output').map((change) => `response ${change}`),
    ]),
    ...rows(before.events, after.events, (was, is) => [
      ...was.subjects
        .filter((subject) => !is.subjects.includes(subject))
        .map((subject) => `is no longer on ${subject}`),
      ...breakingChanges(was.payload, is.payload, 'output', components).map((change) => `payload${change}`),
    ]),
    ...rows(before.errors, after.errors, (was, is) => [
      ...differs(was.status, is.status, 'status'),
      ...differs(was.family, is.family, 'property'),
    ]),
    ...rows(before.closeCodes, after.closeCodes, (was, is) => differs(was, is, 'number')),
    ...rows(before.metrics, after.metrics, (was, is) => differs(was, is, 'labels')),
    ...gone(before.scopes, after.scopes),
    ...gone(before.config, after.config),
  ]
}

const differs = (was: unknown, is: unknown, what: string): readonly string[] => {
  const [from, to] = [JSON.stringify(was), JSON.stringify(is)]
  return from === to ? [] : [`${what} ${from} became ${to}`]
}

const gone = (was: readonly string[], is: readonly string[]): readonly BreakingChange[] =>
  was.filter((name) => !is.includes(name)).map((name) => ({ name, change: 'is gone' }))

const rows = <Row>(was: Rows<Row>, is: Rows<Row>, compare: (was: Row, is: Row) => readonly string[]) =>
  Object.entries(was).flatMap(([name, row]) => {
    const now = is[name]
    const changes = now === undefined ? ['is gone'] : compare(row, now)
    return changes.map((change): BreakingChange => ({ name, change }))
  })

/** Returns the changes that no change set announces: in a paragraph that begins with `Breaking:` and has the name in backticks. */
export const unannounced = (
  changes: readonly BreakingChange[],
  changesets: readonly string[],
): readonly BreakingChange[] => {
  const paragraphs = changesets
    .flatMap((text) => text.split(/\n\s*\n/))
    .filter((one) => one.trim().startsWith('Breaking:'))
  return changes.filter(({ name }) => !paragraphs.some((one) => one.includes(`\`${name}\``)))
}
