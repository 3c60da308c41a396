import { GROUP_SUMMARIES, type Operation } from '@perdure/protocol'
import * as v from 'valibot'
import type { Json } from './openapi-json.ts'
import { type Parameters, parametersOf } from './openapi-parameters.ts'
import { HEADER_COMPONENTS, type Responses, responsesOf } from './openapi-responses.ts'
import { contentOf, type SchemaComponents, schemaComponents } from './openapi-schemas.ts'

export interface OpenApiOptions {
  readonly basePath: string
  readonly version: string
}

/** The parts of the document to which operations refer. */
interface Components {
  readonly schemas: SchemaComponents
  readonly parameters: Parameters
  readonly responses: Responses
}

/** Builds the OpenAPI 3.1 document of the operations. */
export function buildOpenApi(operations: readonly Operation[], { basePath, version }: OpenApiOptions): Json {
  const schemas = schemaComponents(operations)
  const parameters = parametersOf(operations, schemas)
  const responses = responsesOf(operations, schemas)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Perdure',
      version,
      summary: 'A standalone durable agent server.',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath, description: 'This server.' }],
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name, description: GROUP_SUMMARIES[name] })),
    paths: pathsOf(operations, { schemas, parameters, responses }),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'perdure_<env>_v1_<secret>',
          description: 'An access token. A server with `auth.kind: none` needs no token.',
        },
      },
      schemas: schemas.schemas,
      parameters: parameters.components,
      headers: HEADER_COMPONENTS,
      responses: responses.components,
      examples: { ...schemas.examples, ...responses.examples },
    },
  }
}

const DESCRIPTION = [
  'Branch on the member `error` of an error response: its identifiers are permanent.',
  'Ignore members that you do not know: a later version can add members to a response.',
  'The schema of a `text/event-stream` body describes the data of each event. The first event of a stream has empty data and only sets the last event id.',
].join(' ')

function pathsOf(operations: readonly Operation[], components: Components): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(operation, components) }
  }
  return paths
}

export const tagOf = ({ id }: Operation): string => id.split('.')[0] ?? id

function operationObject(operation: Operation, { schemas, parameters, responses }: Components): Json {
  const { id, summary, scope, body, refused, takesFile } = operation
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    description: descriptionOf(operation),
    ...(scope === null ? { security: [] } : {}),
    ...(refused === true ? { 'x-perdure-refused': true } : {}),
    parameters: parameters.of(operation),
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas) }),
    ...(takesFile === true ? { requestBody: FILE_BODY } : {}),
    responses: responses.of(operation),
  }
}

/** What a caller needs to call the operation, and what it sees. */
export const descriptionOf = (operation: Operation): string =>
  describeScope(operation) + describeFurtherScopes(operation) + describeVisibility(operation)

const describeFurtherScopes = ({ mayNeed = [] }: Operation): string =>
  mayNeed.length === 0
    ? ''
    : ` Some requests also need one or more of ${mayNeed.map((one) => `\`${one}\``).join(', ')}.`

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

const FILE_BODY: Json = {
  description: 'The content of the file.',
  content: { '*/*': { schema: {}, example: 'hello' } },
}

/** A body without mandatory members may be left out. */
function requestBody(body: v.GenericSchema, { nameOf, descriptionOf }: SchemaComponents): Json {
  const name = nameOf(body)
  return {
    description: descriptionOf(name),
    ...(v.is(body, {}) ? {} : { required: true }),
    content: { 'application/json': contentOf(name) },
  }
}
