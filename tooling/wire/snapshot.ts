import { buildOpenApi, convertSchema } from '@perdure/http'
import { CLOSE_CODES, configFields, ERRORS, EVENTS, METRICS, OPERATIONS, SCOPES } from '@perdure/protocol'

export type Schema = Readonly<Record<string, unknown>>

interface Parameter {
  readonly in: string
  readonly required: boolean
  readonly schema: Schema
}

export interface WireOperation {
  readonly route: string
  readonly scope: unknown
  /** By place and name. */
  readonly parameters: Readonly<Record<string, Parameter>>
  /** By media type. */
  readonly body: Readonly<Record<string, Schema>>
  readonly isBodyRequired: boolean
  /** By status and media type. */
  readonly responses: Readonly<Record<string, Schema>>
}

/** Everything that a client or an operator may rely on, as data. */
export interface Wire {
  readonly operations: Readonly<Record<string, WireOperation>>
  readonly schemas: Readonly<Record<string, Schema>>
  readonly events: Readonly<Record<string, { readonly subjects: readonly string[]; readonly payload: Schema }>>
  readonly errors: Readonly<Record<string, { readonly status: number; readonly family: string }>>
  readonly closeCodes: Readonly<Record<string, number>>
  readonly scopes: readonly string[]
  /** The names of the labels, by metric. */
  readonly metrics: Readonly<Record<string, readonly string[]>>
  readonly config: readonly string[]
}

const TEXTS = new Set(['description', 'example', 'examples', 'summary', 'title'])

/** Omits the texts of schemas, which may change. A property may have the name of one. */
function withoutTexts(node: unknown, isNames = false): unknown {
  if (Array.isArray(node)) return node.map((one) => withoutTexts(one))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => isNames || !TEXTS.has(key))
      .map(([key, value]) => [key, withoutTexts(value, !isNames && key === 'properties')]),
  )
}

interface MediaTypes {
  readonly [mediaType: string]: { readonly schema?: Schema }
}
interface Described {
  readonly $ref?: string
  readonly required?: boolean
  readonly content?: MediaTypes
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
interface DescribedOperation {
  readonly operationId: string
  readonly parameters?: readonly (Described & {
    readonly name?: string
    readonly in?: string
    readonly schema?: Schema
  })[]
  readonly requestBody?: Described
  readonly responses: Readonly<Record<string, Described>>
}

/** The wire of these sources. */
export function wireOf(): Wire {
  const { paths, components } = withoutTexts(
    buildOpenApi(OPERATIONS, { basePath: '/v1', version: '0.0.0' }),
  ) as unknown as OpenApi
  const resolve = <Node extends Described>(node: Node): Node => {
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(node.$ref ?? '') ?? []
    return node.$ref === undefined ? node : (components[kind]?.[name] as Node)
  }
  const schemasOf = (content: MediaTypes = {}, prefix = '') =>
    Object.entries(content).flatMap(([type, { schema }]) =>
      schema === undefined ? [] : [[`${prefix}${type}`, schema]],
    )

  const described = new Map(
    Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => [one.operationId, one] as const)),
  )
  const operations = OPERATIONS.map((operation): [string, WireOperation] => {
    const { parameters = [], requestBody, responses } = described.get(operation.id) ?? { responses: {} }
    const body = requestBody === undefined ? {} : resolve(requestBody)
    const entries = parameters.map(resolve).map(({ name, in: place = '', required = false, schema = {} }) => {
      return [`${place} ${name}`, { in: place, required, schema }] as const
    })
    const answers = Object.entries(responses).filter(([status]) => Number(status) < 400)
    return [
      operation.id,
      {
        route: `${operation.method} ${operation.path}`,
        scope: operation.scope,
        parameters: Object.fromEntries(entries),
        body: Object.fromEntries(schemasOf(body.content)),
        isBodyRequired: body.required ?? false,
        responses: Object.fromEntries(
          answers.flatMap(([status, answer]) => [[status, {}], ...schemasOf(resolve(answer).content, `${status} `)]),
        ),
      },
    ]
  })
  return {
    operations: Object.fromEntries(operations),
    schemas: components.schemas as Readonly<Record<string, Schema>>,
    events: mapOf(EVENTS, ({ subjects, payload }) => ({
      subjects,
      payload: withoutTexts(convertSchema(payload, 'output')) as Schema,
    })),
    errors: mapOf(ERRORS, ({ status, family }) => ({ status, family })),
    closeCodes: mapOf(CLOSE_CODES, ({ code }) => code),
    scopes: Object.keys(SCOPES),
    metrics: mapOf(METRICS, ({ labels }) => labels),
    config: configFields.map(({ path }) => path),
  }
}

const mapOf = <Row, Value>(rows: Readonly<Record<string, Row>>, of: (row: Row) => Value) =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, of(row)]))

/** The wire as a file with one line per operation, schema and event, so that a change is a changed line. */
export function printWire(wire: Wire): string {
  const groups = Object.entries(wire).map(([name, group]) => {
    const isList = Array.isArray(group)
    const lines = Object.entries(group).map(([key, value]) =>
      isList ? `  ${JSON.stringify(value)}` : `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
    )
    return `${JSON.stringify(name)}: ${isList ? '[' : '{'}\n${lines.join(',\n')}\n${isList ? ']' : '}'}`
  })
  return `{\n${groups.join(',\n')}\n}\n`
}
