import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ERRORS, errorsOf, OPERATIONS, PARAMETER_MEANINGS } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { buildOpenApi } from './openapi.ts'

interface OperationObject {
  readonly operationId: string
  readonly security?: readonly unknown[]
  readonly parameters: ReadonlyArray<{
    readonly name?: string
    readonly in?: string
    readonly description?: string
    readonly $ref?: string
  }>
  readonly requestBody?: unknown
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
  readonly 'x-perdure-refused'?: boolean
}
type Content = Readonly<
  Record<string, { readonly schema: { readonly properties?: { readonly error?: { readonly enum?: string[] } } } }>
>

const document = buildOpenApi(OPERATIONS, { basePath: '/v1', version: '0.1.0' })
const paths = document.paths as Readonly<Record<string, Readonly<Record<string, OperationObject>>>>

const objectOf = (method: string, path: string): OperationObject | undefined =>
  paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

const ROOT = join(import.meta.dirname, '../../../..')

describe('the OpenAPI document', () => {
  it('passes redocly lint without errors', async () => {
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
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({ totals: { errors: 0 } })
  })

  it('limits every integer input to the safe integer range', () => {
    const integers: unknown[] = []
    const collect = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      if ('type' in node && node.type === 'integer') integers.push(node)
      for (const member of Object.values(node)) collect(member)
    }
    for (const { parameters, requestBody } of Object.values(paths).flatMap((one) => Object.values(one))) {
      collect([parameters, requestBody])
    }

    const isBounded = (shape: unknown) => Number((shape as { maximum?: number }).maximum) <= Number.MAX_SAFE_INTEGER
    expect(integers.length).toBeGreaterThan(10)
    expect(integers.filter((shape) => !isBounded(shape))).toEqual([])
  })

  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))('describes %s', (id, operation) => {
    const object = objectOf(operation.method, operation.path)

    expect(object?.operationId).toBe(id)
    expect(object?.['x-perdure-refused']).toBe(operation.refused)
    expect(object?.security).toEqual(operation.scope === null ? [] : undefined)
    expect(Object.keys(object?.responses ?? {})).toEqual(expect.arrayContaining(Object.keys(operation.responses)))
    for (const code of errorsOf(operation)) {
      const codes =
        object?.responses[ERRORS[code].status]?.content?.['application/json']?.schema.properties?.error?.enum
      expect(codes, code).toContain(code)
    }
  })

  it('describes every path and query parameter and every group', () => {
    const objects = Object.values(paths).flatMap((methods) => Object.values(methods))
    const named = objects.flatMap(({ parameters }) => parameters.filter(({ name }) => name !== undefined))
    const { tags } = document as { readonly tags?: readonly { readonly description?: string }[] }

    expect(named.filter(({ description }) => !/^.{10,}\.$/.test(description ?? ''))).toEqual([])
    expect(tags?.filter(({ description }) => !/^.{10,}\.$/.test(description ?? ''))).toEqual([])
    expect(Object.keys(PARAMETER_MEANINGS).filter((name) => !named.some((one) => one.name === name))).toEqual([])
  })

  it('declares every path parameter and the headers that an operation reads', () => {
    const run = objectOf('POST', '/agents/:agentId/run')
    const events = objectOf('GET', '/runs/:runId/events')

    expect(run?.parameters).toEqual([
      expect.objectContaining({ name: 'agentId', in: 'path', required: true }),
      { $ref: '#/components/parameters/IdempotencyKey' },
      { $ref: '#/components/parameters/Prefer' },
    ])
    expect(events?.parameters.map(({ name, $ref }) => name ?? $ref)).toEqual([
      'runId',
      'limit',
      'cursor',
      'order',
      'lastEventId',
      '#/components/parameters/LastEventId',
    ])
  })
})
