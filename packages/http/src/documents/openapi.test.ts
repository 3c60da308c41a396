import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ERRORS, errorsOf, OPERATIONS, PARAMETER_MEANINGS, type ResponseSpec } from '@perdure/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { buildOpenApi } from './openapi.ts'

interface Reference {
  readonly $ref?: string
}
interface ParameterObject extends Reference {
  readonly name: string
  readonly in: string
  readonly description?: string
}
interface MediaType {
  readonly schema: Reference
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, Reference>>
}
type Content = Readonly<Record<string, MediaType>>
interface ResponseObject extends Reference {
  readonly description: string
  readonly content?: Content
  readonly 'x-perdure-errors'?: readonly string[]
}
interface OperationObject {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly security?: readonly unknown[]
  readonly parameters: readonly ParameterObject[]
  readonly requestBody?: { readonly description: string; readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, ResponseObject>>
  readonly 'x-perdure-refused'?: boolean
}

const document = buildOpenApi(OPERATIONS, { basePath: '/v1', version: '0.1.0' })
const paths = document.paths as Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
const { schemas } = document.components as { readonly schemas: Readonly<Record<string, object>> }

const objectOf = (method: string, path: string): OperationObject | undefined =>
  paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

/** Replaces a reference by its component. */
function resolved<Component extends Reference>(component: Component): Component {
  if (component.$ref === undefined) return component
  const found = component.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, name) => (node as Readonly<Record<string, unknown>> | undefined)?.[name], document)
  if (found === undefined) throw new Error(`no ${component.$ref}`)
  return found as Component
}

/** Calls `visit` with each object below the node. `follow`: enters references, each once. */
function walk(node: unknown, visit: (object: object, path: string) => void, follow = false) {
  const seen = new Set<unknown>()
  const enter = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    visit(value, path)
    if (follow && '$ref' in value) enter(resolved(value as Reference), path)
    for (const [name, member] of Object.entries(value)) enter(member, `${path}/${name}`)
  }
  enter(node, '')
}

const ROOT = join(import.meta.dirname, '../../../..')

describe('the OpenAPI document', () => {
  it('passes redocly lint without an error or a warning', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-openapi-'))
    const file = join(folder, 'openapi.json')
    await writeFile(file, JSON.stringify(document))
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const redocly = join(ROOT, 'node_modules/.bin/redocly')

    const options = { cwd: folder, env, maxBuffer: 16_777_216 }
    const { stdout } = await promisify(execFile)(
      redocly,
      ['lint', file, '--extends=recommended', '--format=json'],
      options,
    )

    await rm(folder, { recursive: true })
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({
      totals: { errors: 0, warnings: 0 },
      problems: [],
    })
  })

  it('limits every integer input to the safe integer range', () => {
    const integers: object[] = []
    const collect = (node: object) => 'type' in node && node.type === 'integer' && integers.push(node)
    for (const { parameters, requestBody } of operations) walk([parameters, requestBody], collect, true)

    const isBounded = (shape: object) => Number((shape as { maximum?: number }).maximum) <= Number.MAX_SAFE_INTEGER
    expect(integers.length).toBeGreaterThan(10)
    expect(integers.filter((shape) => !isBounded(shape))).toEqual([])
  })

  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))('describes %s', (id, operation) => {
    const object = objectOf(operation.method, operation.path)

    expect(object?.operationId).toBe(id)
    expect(object?.['x-perdure-refused']).toBe(operation.refused)
    expect(object?.security).toEqual(operation.scope === null ? [] : undefined)
    expect(`${object?.summary} ${object?.description}`).toMatch(/^[A-Z].{5,}\. .{10,}\.$/)
    expect(Object.keys(object?.responses ?? {})).toEqual(expect.arrayContaining(Object.keys(operation.responses)))
    for (const code of errorsOf(operation)) {
      const response = object?.responses[ERRORS[code].status]
      const { content, 'x-perdure-errors': codes } = response === undefined ? {} : resolved(response)
      expect(codes, code).toContain(code)
      expect(content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Error' })
    }
  })

  it('describes every path and query parameter and every group', () => {
    const named = operations.flatMap(({ parameters }) => parameters.map(resolved))
    const { tags } = document as { readonly tags?: readonly { readonly description?: string }[] }

    expect(named.filter(({ description }) => !/^.{10,}\.$/.test(description ?? ''))).toEqual([])
    expect(tags?.filter(({ description }) => !/^.{10,}\.$/.test(description ?? ''))).toEqual([])
    expect(Object.keys(PARAMETER_MEANINGS).filter((name) => !named.some((one) => one.name === name))).toEqual([])
  })

  it('declares every path parameter and the headers that an operation reads', () => {
    const run = objectOf('POST', '/agents/:agentId/run')
    const events = objectOf('GET', '/runs/:runId/events')
    const namesOf = (object: OperationObject | undefined) => object?.parameters.map((one) => resolved(one).name)

    expect(run?.parameters.map(resolved)[0]).toMatchObject({ name: 'agentId', in: 'path', required: true })
    expect(namesOf(run)).toEqual(['agentId', 'Idempotency-Key', 'Prefer'])
    expect(namesOf(events)).toEqual(['runId', 'limit', 'cursor', 'order', 'lastEventId', 'Last-Event-ID'])
  })

  it('describes query parameters as a client sends them', () => {
    const parameterOf = (name: string) =>
      objectOf('GET', '/runs')
        ?.parameters.map(resolved)
        .find((one) => one.name === name)

    expect(parameterOf('limit')).toMatchObject({ schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 } })
    expect(parameterOf('status')).toMatchObject({ schema: { $ref: '#/components/schemas/RunStatus' } })
    expect(parameterOf('include')).toMatchObject({ style: 'form', explode: false, schema: { type: 'array' } })
    expect(parameterOf('metadata')).toMatchObject({
      style: 'form',
      explode: true,
      schema: { type: 'object', propertyNames: { pattern: '^metadata\\.' } },
    })
  })

  it('describes every schema and every property', () => {
    const undescribed: string[] = []
    for (const [name, schema] of Object.entries(schemas)) {
      const { description = '', properties = {} } = schema as {
        readonly description?: string
        readonly properties?: Readonly<Record<string, { readonly description?: string }>>
      }
      const all = [
        [name, description] as const,
        ...Object.entries(properties).map(([key, one]) => [`${name}.${key}`, one.description ?? ''] as const),
      ]
      for (const [key, text] of all) {
        const last = key.split('.').at(-1)?.toLowerCase()
        if (!/^.{8,}\.$/s.test(text) || text.toLowerCase() === `${last}.`) undescribed.push(key)
      }
    }
    expect(Object.keys(schemas).length).toBeGreaterThan(100)
    expect(undescribed).toEqual([])
  })

  it('defines every object with members once, as a named schema', () => {
    const inline: string[] = []
    walk(document, (object, path) => {
      const isSchema = 'properties' in object && 'type' in object && object.type === 'object'
      if (isSchema && !/^\/components\/schemas\/\w+$/.test(path) && !path.startsWith('/components/examples/')) {
        inline.push(path)
      }
    })
    expect(inline).toEqual([])
  })

  it('has an example of every body that its schema accepts', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addSchema({ $id: 'openapi', components: { schemas } })
    const problems: string[] = []
    let count = 0
    for (const { operationId, requestBody, responses } of operations) {
      const bodies = [requestBody?.content, ...Object.values(responses).map((response) => resolved(response).content)]
      for (const [type, media] of bodies.flatMap((content) => Object.entries(content ?? {}))) {
        const { schema, example, examples = {} } = media
        const values = Object.values(examples).map((one) => (resolved(one) as { readonly value?: unknown }).value)
        const all = example === undefined ? values : [...values, example]
        if (all.length === 0) problems.push(`${operationId} ${type}: no example`)
        const validate = ajv.compile(schema.$ref === undefined ? schema : { $ref: `openapi${schema.$ref}` })
        for (const value of all) {
          count += 1
          if (!validate(value)) problems.push(`${operationId} ${type}: ${ajv.errorsText(validate.errors)}`)
        }
      }
    }
    expect(problems).toEqual([])
    expect(count).toBeGreaterThan(200)
  })

  it('has examples that the server accepts or returns', () => {
    const exampleOf = (content: Content | undefined) => {
      const [example] = Object.values(content?.['application/json']?.examples ?? {}).map(resolved)
      return (example as { readonly value?: unknown } | undefined)?.value
    }
    for (const { id, method, path, body, responses } of OPERATIONS) {
      const object = objectOf(method, path)
      const required = body !== undefined && !v.is(body, {})
      if (body !== undefined) expect(v.is(body, exampleOf(object?.requestBody?.content)), id).toBe(true)
      expect(object?.requestBody?.required ?? false, id).toBe(required)
      for (const [status, { schema }] of Object.entries<ResponseSpec>(responses)) {
        if (schema === undefined) continue
        expect(v.is(schema, exampleOf(object?.responses[status]?.content)), `${id} ${status}`).toBe(true)
      }
    }
  })

  it('tells the kinds of a trigger apart by a discriminator', () => {
    expect(schemas.CreateTriggerRequest).toMatchObject({
      oneOf: [{ $ref: '#/components/schemas/CreateCronTrigger' }, {}, {}, {}, {}],
      discriminator: { propertyName: 'kind', mapping: { event: '#/components/schemas/CreateEventTrigger' } },
    })
    expect(schemas.ToolResult).not.toHaveProperty('discriminator')
  })

  it('has operation ids that stay unique identifiers in camel case', () => {
    const names = operations.map(({ operationId }) =>
      operationId.replace(/[.-](\w)/g, (_, one: string) => one.toUpperCase()),
    )
    expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(name))).toEqual([])
    expect(new Set(names).size).toBe(OPERATIONS.length)
  })

  it('has at most 545,000 characters', () => {
    expect(JSON.stringify(document).length).toBeLessThan(545_000)
  })
})
