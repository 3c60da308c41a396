import { type Operation, PARAMETER_MEANINGS } from '@perdure/protocol'
import { honoursPrefer } from '../operation-traits.ts'
import { componentRef, type Json, pascalCase } from './openapi-json.ts'
import type { SchemaComponents } from './openapi-schemas.ts'

const HEADERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes a retried request take effect only once. 1 to 255 visible ASCII characters, such as a UUID.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: 'respond-async answers 202 immediately; wait=N answers 202 if there is no outcome after N seconds.',
    schema: { type: 'string' },
    example: 'wait=10',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Id of the last event the client received; the stream resumes after it.',
    schema: { type: 'string' },
  },
} as const

export interface Parameters {
  readonly components: Json
  of(operation: Operation): readonly Json[]
}

interface Parameter extends Json {
  readonly name: string
  readonly in: 'path' | 'query'
}

/** The parameters of all operations. Those that several operations share are components. */
export function parametersOf(operations: readonly Operation[], schemas: SchemaComponents): Parameters {
  const own = new Map(
    operations.map((operation) => [
      operation.id,
      [...pathParameters(operation), ...queryParameters(operation, schemas)],
    ]),
  )
  const components: Record<string, Json> = { ...HEADERS }
  const shared = new Map<string, string>()
  for (const [text, parameter] of repeated([...own.values()].flat())) {
    const name = `${pascalCase(parameter.name)}${parameter.in === 'path' ? 'Path' : 'Query'}`
    if (components[name] !== undefined) continue
    components[name] = parameter
    shared.set(text, name)
  }
  const referenced = (parameter: Parameter): Json => {
    const name = shared.get(JSON.stringify(parameter))
    return name === undefined ? parameter : componentRef('parameters', name)
  }
  return {
    components,
    of: (operation) => [...(own.get(operation.id) ?? []).map(referenced), ...headerParameters(operation)],
  }
}

/** The parameters that occur more than once, the most frequent first. */
function repeated(parameters: readonly Parameter[]): ReadonlyArray<readonly [text: string, parameter: Parameter]> {
  const groups = Map.groupBy(parameters, (parameter) => JSON.stringify(parameter))
  return [...groups]
    .filter(([, { length }]) => length > 1)
    .toSorted(([, one], [, other]) => other.length - one.length)
    .flatMap(([text, [parameter]]) => (parameter === undefined ? [] : [[text, parameter] as const]))
}

const pathParameters = ({ path }: Operation): Parameter[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PARAMETER_MEANINGS[name],
    schema: { type: 'string' },
  }))

function queryParameters(operation: Operation, schemas: SchemaComponents): Parameter[] {
  const { properties, required } = schemas.queryOf(operation)
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    description: PARAMETER_MEANINGS[name],
    ...serialized(name, schema),
  }))
}

/** How a query carries the value: a list as one text with commas, a map as one parameter `name.key` for each key. */
function serialized(name: string, schema: Json): Json {
  if (schema.type === 'array') return { style: 'form', explode: false, schema }
  if (schema.type === 'object') {
    const propertyNames = { pattern: `^${name}\\.` }
    return { style: 'form', explode: true, schema: { ...schema, propertyNames }, example: { [`${name}.ticket`]: '17' } }
  }
  const isParsed = schema.type === 'integer' && typeof schema.default === 'string'
  return { schema: isParsed ? { ...schema, default: Number(schema.default) } : schema }
}

function headerParameters(operation: Operation): Json[] {
  const names = [
    ...(operation.idempotent ? ['IdempotencyKey'] : []),
    ...(honoursPrefer(operation) ? ['Prefer'] : []),
    ...(operation.method === 'GET' && operation.responses[200]?.stream === 'event-stream' ? ['LastEventId'] : []),
  ]
  return names.map((name) => componentRef('parameters', name))
}
