import { createMcpForge } from './mcp-forge.ts'
import { ODD_HEADERS, ODD_NUMBERS, ODD_TEXTS, RAW_VALUES } from './odd-values.ts'

/** The subset of JSON Schema that the OpenAPI document of the server uses. */
export interface Shape {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly format?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: Shape | boolean
  readonly required?: readonly string[]
  readonly items?: Shape
}

export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Shape }>
  /** `file` if the body is the content of a file. */
  readonly body: Shape | 'file' | undefined
  readonly statuses: ReadonlySet<number>
}

interface OpenApi {
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: {
    readonly parameters: Readonly<Record<string, Endpoint['parameters'][number]>>
    readonly schemas: Readonly<Record<string, Shape>>
  }
}

interface OpenApiOperation {
  readonly parameters: ReadonlyArray<{ readonly $ref?: string } & Endpoint['parameters'][number]>
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: Shape } } }
  readonly responses: Readonly<Record<string, unknown>>
}

/** Returns every endpoint of the OpenAPI document of the server. */
export function endpointsOf(document: unknown): readonly Endpoint[] {
  const { servers, paths, components } = document as OpenApi
  const base = servers[0]?.url ?? ''
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path: base + path,
      parameters: parameters
        .map(({ $ref, ...own }) => components.parameters[$ref?.split('/').at(-1) ?? ''] ?? own)
        .map((parameter) => ({ ...parameter, schema: dereference(parameter.schema, components.schemas) })),
      body: requestBody && bodyShape(requestBody.content['application/json']?.schema, components.schemas),
      statuses: new Set(Object.keys(responses).map(Number)),
    })),
  )
}

const bodyShape = (schema: Shape | undefined, schemas: OpenApi['components']['schemas']): Endpoint['body'] =>
  schema === undefined ? 'file' : dereference(schema, schemas)

/** Replaces each reference in the shape by the named schema. */
function dereference(shape: Shape, schemas: OpenApi['components']['schemas']): Shape {
  const { $ref, ...own } = shape
  const whole: Shape = { ...($ref === undefined ? {} : schemas[$ref.split('/').at(-1) ?? '']), ...own }
  return Object.fromEntries(
    Object.entries(whole).map(([name, value]) => {
      if (name === 'properties') {
        const members = Object.entries(value as Readonly<Record<string, Shape>>)
        return [name, Object.fromEntries(members.map(([key, one]) => [key, dereference(one, schemas)]))]
      }
      if (name === 'anyOf' || name === 'oneOf') {
        return [name, (value as readonly Shape[]).map((one) => dereference(one, schemas))]
      }
      const isShape = ['items', 'additionalProperties'].includes(name) && typeof value === 'object'
      return [name, isShape ? dereference(value as Shape, schemas) : value]
    }),
  )
}

export interface Forged {
  readonly endpoint: Endpoint
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string
}

type Random = () => number

/** Values for path parameters, and for members of bodies with these names. */
const NAMES: Readonly<Record<string, { readonly fixed?: readonly string[]; readonly prefix?: string }>> = {
  agentId: { fixed: ['echo', 'asks', 'tells'] },
  hookId: { fixed: ['open', 'signed', 'unknown'] },
  workflowId: { fixed: ['flow'] },
  runId: { prefix: 'run_' },
  tokenId: { prefix: 'tok_' },
  subject: { fixed: ['jwt:app:alice', 'host:bob', 'alice'] },
  factId: { prefix: 'mem_' },
  approvalId: { prefix: 'apr_' },
  threadId: { prefix: 'thr_' },
  conflictId: { prefix: 'cfl_' },
  sessionId: { prefix: 's' },
  chatId: { prefix: 'x' },
  fileId: { prefix: 'file_' },
  conversationId: { prefix: 's' },
  responseId: { prefix: 'resp_' },
  label: { fixed: ['persona', 'goals'] },
  model: { fixed: ['echo', 'asks', 'tells', 'workflow:flow'] },
  previous_response_id: { prefix: 'resp_' },
  approval_request_id: { prefix: 'mcpr_' },
  tool_call_id: { prefix: 'apr_' },
}

/** Generates requests that an endpoint accepts or nearly accepts. `ids` holds the ids found in earlier answers. */
export function createForge(random: Random, ids: readonly string[]) {
  const chance = (share: number) => random() < share
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T
  const name = () => (ids.length > 0 && chance(0.6) ? pick(ids) : pick(['echo', 'asks', 'tells', 'flow', 's-1', 's-2']))

  /** Picks a known id for a parameter of this name, if there is one. */
  const named = (parameter: string): string => {
    const { fixed, prefix } = NAMES[parameter] ?? {}
    const fitting = prefix === undefined ? [] : ids.filter((id) => id.startsWith(prefix))
    if (fixed !== undefined) return pick(fixed)
    return fitting.length > 0 && chance(0.9) ? pick(fitting) : name()
  }

  const text = (format: string | undefined): string => {
    if (chance(0.08)) return pick(ODD_TEXTS)
    if (format === 'date-time') return new Date(below(4e12)).toISOString()
    if (format === 'uri') return 'http://127.0.0.1:9/'
    return chance(0.5) ? name() : `text ${below(100)}`
  }

  const anything = (depth = 0): unknown => {
    const kind = below(depth > 3 ? 5 : 8)
    if (kind === 0) return pick([null, true, false])
    if (kind === 1) return pick(ODD_NUMBERS)
    if (kind < 5) return pick(ODD_TEXTS)
    if (kind === 5) return nested(pick([2, 63, 64, 65, 500]))
    if (kind === 6) return Array.from({ length: below(4) }, () => anything(depth + 1))
    return Object.fromEntries(Array.from({ length: below(4) }, () => [pick(ODD_TEXTS), anything(depth + 1)]))
  }

  const valueFor = (shape: Shape): unknown => {
    if (chance(0.02)) return anything()
    if (shape.const !== undefined) return shape.const
    if (shape.enum !== undefined) return pick(shape.enum)
    const variants = shape.anyOf ?? shape.oneOf
    if (variants !== undefined) return valueFor(pick(variants))
    const type = typeof shape.type === 'string' ? shape.type : pick(shape.type ?? [''])
    if (type === 'object') return objectOf(shape)
    if (type === 'array') return Array.from({ length: below(3) }, () => valueFor(shape.items ?? {}))
    if (type === 'boolean') return chance(0.5)
    if (type === 'number' || type === 'integer') return chance(0.7) ? 1 + below(100) : pick(ODD_NUMBERS)
    return type === 'string' ? text(shape.format) : anything()
  }

  const objectOf = ({ properties = {}, required = [], additionalProperties }: Shape): unknown => {
    const given = Object.entries(properties).filter(([key]) => required.includes(key) || chance(0.4))
    const members = given.map(
      ([key, shape]) => [key, Object.hasOwn(NAMES, key) && chance(0.7) ? named(key) : valueFor(shape)] as const,
    )
    const isOpen = typeof additionalProperties === 'object'
    if (isOpen && chance(0.5)) members.push([text(undefined), valueFor(additionalProperties)])
    if (chance(0.03)) members.push([pick(ODD_TEXTS), anything()])
    return Object.fromEntries(members)
  }

  const bodyOf = ({ body }: Endpoint): string => {
    if (body === undefined) return chance(0.1) ? JSON.stringify(anything()) : ''
    // Above 64 KiB, a file is stored beside the database.
    if (body === 'file') return pick(ODD_TEXTS).repeat(pick([0, 1, 10_000]))
    const written = JSON.stringify(valueFor(body))
    if (chance(0.04)) return written.replace(/:\s*("[^"]*"|\d+|true|false|null)/, () => `:${pick(RAW_VALUES)}`)
    return chance(0.02) ? pick(['', '{', '[', '"', 'null', '\ufeff{}', `${written} x`, '[1,', '{"a"']) : written
  }

  const targetOf = ({ path, parameters }: Endpoint): string => {
    const encode = (value: string) => (chance(0.1) ? escapeOdd(value) : encodeURIComponent(value.toWellFormed()))
    const filled = path.replace(/\{(\w+)\}/g, (_, of: string) => encode(chance(0.08) ? pick(ODD_TEXTS) : named(of)))
    const query = parameters
      .filter((parameter) => parameter.in === 'query' && chance(0.4))
      .map((parameter) => `${parameter.name}=${encode(queryText(valueFor(parameter.schema)))}`)
    if (chance(0.02)) query.push(`${encode(pick(ODD_TEXTS))}=${encode(pick(ODD_TEXTS))}`)
    return query.length === 0 ? filled : `${filled}?${query.join('&')}`
  }

  const headersOf = (): [string, string][] =>
    Object.entries(ODD_HEADERS).flatMap(([header, values]) =>
      chance(0.06) ? [[header, chance(0.2) ? escapeOdd(pick(ODD_TEXTS)) : pick(values)] as [string, string]] : [],
    )

  const forgeMcp = createMcpForge(random, ids)

  return (endpoint: Endpoint): Forged => {
    const forged = { endpoint, target: targetOf(endpoint), headers: headersOf(), body: bodyOf(endpoint) }
    if (!endpoint.path.endsWith('/mcp') || endpoint.method !== 'POST' || chance(0.2)) return forged
    const { headers, body } = forgeMcp()
    return { ...forged, headers: [...forged.headers, ...headers], body }
  }
}

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

const queryText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Escapes spaces and control characters, because they would change the meaning of a request head. */
const escapeOdd = (value: string) => [...value].map((one) => (one <= ' ' ? '%20' : one)).join('')
