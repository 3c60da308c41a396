import {
  ERRORS,
  type ErrorCode,
  errorsOf,
  GROUP_SUMMARIES,
  type Operation,
  PARAMETER_MEANINGS,
  type ResponseSpec,
} from '@perdure/protocol'
import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { honoursPrefer } from '../operation-traits.ts'

export interface OpenApiOptions {
  readonly basePath: string
  readonly version: string
}

type Json = Readonly<Record<string, unknown>>

/** Builds the OpenAPI 3.1 document of the operations. */
export function buildOpenApi(operations: readonly Operation[], { basePath, version }: OpenApiOptions): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Perdure',
      version,
      summary: 'A standalone durable agent server.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath }],
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name, description: SUMMARIES[name] })),
    paths: pathsOf(operations),
    components: COMPONENTS,
  }
}

const SUMMARIES: Readonly<Record<string, string>> = GROUP_SUMMARIES

const COMPONENTS: Json = {
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'perdure_<env>_v1_<secret>' } },
  parameters: {
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
  },
  headers: {
    Location: { description: 'Path of the created resource or started run.', schema: { type: 'string' } },
    RetryAfter: { description: 'Seconds to wait before retrying the request.', schema: { type: 'integer' } },
    RequestId: { description: 'Id of the request in the server log.', schema: { type: 'string' } },
  },
}

function pathsOf(operations: readonly Operation[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(operation) }
  }
  return paths
}

const tagOf = ({ id }: Operation): string => id.split('.')[0] ?? id

function operationObject(operation: Operation): Json {
  const { id, summary, scope, body, refused } = operation
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    description: describeScope(operation) + describeVisibility(operation),
    ...(scope === null ? { security: [] } : {}),
    ...(refused === true ? { 'x-perdure-refused': true } : {}),
    parameters: [...pathParameters(operation), ...queryParameters(operation), ...headerParameters(operation)],
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: { ...successes(operation), ...failures(operation) },
  }
}

const describeVisibility = ({ sight }: Operation): string => {
  if (sight === undefined) return ''
  const scopes = sight.map((one) => `\`${one}\``).join(', ')
  return ` Sees only runs that the caller owns or that one of ${scopes} covers. The response shows no other run, not even that it exists.`
}

function describeScope({ scope }: Operation): string {
  if (scope === null) return 'Requires no token.'
  if (scope === 'principal') return 'Requires a valid token.'
  if (typeof scope === 'string') return `Requires the scope \`${scope}\`.`
  if ('anyOf' in scope) return `Requires one of the scopes ${scope.anyOf.map((one) => `\`${one}\``).join(', ')}.`
  if ('rawScope' in scope) return `Requires the scope \`${scope.scope}\`, or \`${scope.rawScope}\` for raw events.`
  return `Requires the scope \`${scope.scope}\` if \`${scope.whenConfig}\` is set.`
}

const pathParameters = ({ path }: Operation): Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PARAMETER_MEANINGS[name],
    schema: { type: 'string' },
  }))

function queryParameters({ query }: Operation): Json[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = schemaOf(query) as {
    readonly properties?: Readonly<Record<string, Json>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    description: PARAMETER_MEANINGS[name],
    schema,
  }))
}

function headerParameters(operation: Operation): Json[] {
  const names = [
    ...(operation.idempotent ? ['IdempotencyKey'] : []),
    ...(honoursPrefer(operation) ? ['Prefer'] : []),
    ...(operation.method === 'GET' && operation.responses[200]?.stream === 'event-stream' ? ['LastEventId'] : []),
  ]
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

function requestBody(body: GenericSchema): Json {
  const schema = schemaOf(body)
  const { required = [] } = schema as { readonly required?: readonly string[] }
  return { ...(required.length === 0 ? {} : { required: true }), content: { 'application/json': { schema } } }
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

function successes({ responses }: Operation): Json {
  return Object.fromEntries(Object.entries<ResponseSpec>(responses).map(([status, spec]) => [status, success(spec)]))
}

const MEDIA_TYPES = {
  'event-stream': 'text/event-stream',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  text: 'text/plain',
  html: 'text/html',
  websocket: undefined,
} as const satisfies Record<NonNullable<ResponseSpec['stream']>, string | undefined>

function success({ description, schema, stream, location }: ResponseSpec): Json {
  const streamed = stream === undefined ? undefined : MEDIA_TYPES[stream]
  const content = {
    ...(schema === undefined ? {} : { 'application/json': { schema: schemaOf(schema) } }),
    ...(streamed === undefined ? {} : { [streamed]: { schema: { type: 'string' } } }),
  }
  const headers = {
    ...REQUEST_ID,
    ...(location === true ? { Location: { $ref: '#/components/headers/Location' } } : {}),
  }
  return { description, headers, ...(Object.keys(content).length === 0 ? {} : { content }) }
}

/** Errors with the same status share one response; its schema lists their codes. */
function failures(operation: Operation): Json {
  const byStatus: Record<string, ErrorCode[]> = {}
  for (const code of errorsOf(operation)) {
    const { status } = ERRORS[code]
    byStatus[status] = [...(byStatus[status] ?? []), code]
  }
  const taken = operation.responses
  return Object.fromEntries(
    Object.entries(byStatus)
      .filter(([status]) => taken[Number(status)] === undefined)
      .map(([status, codes]) => [status, failure(codes)]),
  )
}

function failure(codes: readonly ErrorCode[]): Json {
  const isRetryable = codes.some((code) => ERRORS[code].retryable)
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].summary}`).join('\n\n'),
    headers: { ...REQUEST_ID, ...(isRetryable ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}) },
    content: { 'application/json': { schema: envelopeSchema(codes) } },
  }
}

const envelopeSchema = (codes: readonly ErrorCode[]): Json => ({
  type: 'object',
  required: ['error', 'message', 'requestId'],
  properties: {
    error: { type: 'string', enum: codes },
    message: { type: 'string' },
    hint: { type: 'string' },
    requestId: { type: 'string' },
  },
})

/** The JSON Schema of the wire format. Omits checks that JSON Schema cannot express. */
function schemaOf(schema: GenericSchema): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
  })
  return rest
}
