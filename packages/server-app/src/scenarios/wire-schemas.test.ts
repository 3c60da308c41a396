import type { PerdureClient } from '@perdure/client'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type } from 'arktype'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type AgentRegistration, createServer, type PerdureServer, type WorkflowRegistration } from '../index.ts'

type Schema = NonNullable<AgentRegistration['input']>
type Wire = Readonly<Record<string, { readonly input: Schema; readonly output: Schema; readonly tree: Schema }>>

const ValibotNode: v.GenericSchema<unknown> = v.object({ name: v.string(), nodes: v.array(v.lazy(() => ValibotNode)) })
const ZodNode = z.object({
  name: z.string(),
  get nodes() {
    return z.array(ZodNode)
  },
})

/** The same three schemas in each library: an input with an optional member, a transformed output, and a tree. */
const LIBRARIES = {
  valibot: {
    input: v.object({ to: v.string(), copies: v.optional(v.pipe(v.number(), v.integer())) }),
    output: v.pipe(
      v.object({ text: v.string() }),
      v.transform(({ text }) => text.length),
      v.number(),
    ),
    tree: ValibotNode,
  },
  zod: {
    input: z.object({ to: z.string(), copies: z.int().optional() }),
    output: z
      .object({ text: z.string() })
      .transform(({ text }) => text.length)
      .pipe(z.number()),
    tree: ZodNode,
  },
  arktype: {
    input: type({ to: 'string', 'copies?': 'number.integer' }),
    output: type({ text: 'string' })
      .pipe(({ text }) => text.length)
      .to('number'),
    tree: type({ name: 'string', nodes: 'unknown[]' }),
  },
} as unknown as Wire

const agents: readonly AgentRegistration[] = Object.entries(LIBRARIES).flatMap(([id, { input, output, tree }]) => [
  {
    id,
    description: '',
    input,
    output,
    agent: { run: async (input: unknown) => ({ text: (input as { to: string }).to }) },
  },
  { id: `${id}-tree`, description: '', input: tree, agent: { run: async () => 1 } },
  { id: `${id}-broken`, description: '', output, agent: { run: async () => ({ text: 5 }) } },
])
const workflows: readonly WorkflowRegistration[] = Object.entries(LIBRARIES).map(([id, { input, output }]) => ({
  ...{ id, description: '', input, output },
  workflow: { execute: async (input: unknown) => ({ text: (input as { to: string }).to }) },
}))
const hand = { '~standard': { version: 1, vendor: 'by-hand', validate: (value: unknown) => ({ value }) } } as const
const unconvertible = {
  ...hand,
  '~standard': { ...hand['~standard'], jsonSchema: { input: () => ({ size: 1n }) } },
}

describe('schemas on the wire', () => {
  let server: PerdureServer
  let client: PerdureClient

  beforeAll(async () => {
    server = await createServer({
      config: { auth: { kind: 'none' }, storage: { path: ':memory:' }, log: { level: 'silent' } },
      agents: [
        ...agents,
        { id: 'by-hand', description: '', input: hand, agent: { run: async () => 1 } },
        { id: 'unconvertible', description: '', input: unconvertible as never, agent: { run: async () => 1 } },
        { id: 'plain', description: '', agent: { run: async () => 1 } },
      ],
      workflows,
    })
    await server.start({ listen: false })
    client = server.client({ subject: 'alice', scopes: ['agents:read', 'agents:invoke:*', 'workflows:read'] })
  })
  afterAll(() => server.stop({ force: true }))

  it.each(Object.keys(LIBRARIES))('describes the input and the output of a registration: %s', async (library) => {
    for (const { inputSchema = {}, outputSchema = {} } of [
      await client.agents.get(library),
      await client.workflows.get(library),
    ]) {
      expect(inputSchema).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { to: { type: 'string' }, copies: { type: 'integer' } },
        required: ['to'],
      })
      expect(outputSchema).toMatchObject({ type: 'number' })
      const isValid = new Ajv2020({ strict: false }).compile(inputSchema)
      expect([isValid({ to: 'a' }), isValid({ to: 'a', copies: 2 }), isValid({}), isValid({ to: 1 })]).toEqual([
        ...[true, true, false, false],
      ])
    }
  })

  it.each(Object.keys(LIBRARIES))('completes a run with the transformed output: %s', async (library) => {
    expect(await client.agents.run(library, { input: { to: 'abc' } })).toMatchObject({ status: 'completed', result: 3 })
    expect(await client.agents.run(`${library}-broken`)).toMatchObject({
      ...{ status: 'failed', error: { code: 'invalid-output', message: expect.stringMatching(/^output\.text: /) } },
    })
  })

  it.each(Object.keys(LIBRARIES))('describes a recursive schema that a validator accepts: %s', async (library) => {
    const { inputSchema = {} } = await client.agents.get(`${library}-tree`)
    const isValid = new Ajv2020({ strict: false }).compile(inputSchema)

    expect(isValid({ name: 'a', nodes: [{ name: 'b', nodes: [] }] })).toBe(true)
    expect(isValid({ nodes: [] })).toBe(false)
  })

  it.each(['by-hand', 'unconvertible', 'plain'])('leaves out a schema that cannot be described: %s', async (id) => {
    const agent = await client.agents.get(id)

    expect(agent).not.toHaveProperty('inputSchema')
    expect(agent).not.toHaveProperty('outputSchema')
  })

  it('lists registrations without their schemas, even if a schema refers to itself', async () => {
    const { items } = await client.agents.list()

    expect(items.map(({ id }) => id)).toContain('valibot')
    for (const item of items) expect(Object.keys(item)).not.toContain('inputSchema')
  })

  describe('the OpenAPI document', () => {
    interface Document {
      readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
    }
    const documentFor = async (scopes: readonly string[]) => {
      const document = (await server.client({ subject: 'alice', scopes }).docs.openapi()) as unknown as Document
      return { document, schemas: document.components.schemas }
    }

    it('has a named schema for the input and the output of each registration, and lists it where it is sent', async () => {
      const { schemas } = await documentFor(['agents:read', 'workflows:read'])

      expect(schemas.ValibotAgentInput).toMatchObject({ required: ['to'], description: 'Input of the agent valibot.' })
      expect(schemas.ZodAgentOutput).toMatchObject({ type: 'number' })
      expect(schemas.ArktypeWorkflowInput).toMatchObject({ required: ['to'] })
      expect(schemas.PlainAgentInput).toBeUndefined()
      expect(schemas.RunRequest?.properties).toMatchObject({
        input: { anyOf: expect.arrayContaining([{ $ref: '#/components/schemas/ZodAgentInput' }, {}]) },
      })
      expect(schemas.WorkflowOutcome?.properties).toMatchObject({
        result: { anyOf: expect.arrayContaining([{ $ref: '#/components/schemas/ZodWorkflowOutput' }]) },
      })
    })

    it('resolves every reference of a recursive schema', async () => {
      const { document, schemas } = await documentFor(['agents:read'])
      const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]*)"/g)].map(([, path = '']) => path)

      expect(JSON.stringify(schemas.ZodTreeAgentInput)).toContain('#/components/schemas/ZodTreeAgentInput')
      const nodeAt = (path: string) =>
        path
          .split('/')
          .slice(1)
          .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document)
      expect([...new Set(refs)].filter((path) => nodeAt(path) === undefined)).toEqual([])
    })

    it('shows a caller only the registrations that it may read, and a caller without a token none', async () => {
      const { schemas } = await documentFor(['agents:read:zod'])
      const none = await documentFor([])

      expect(Object.keys(schemas).filter((name) => name.endsWith('AgentInput'))).toEqual(['ZodAgentInput'])
      expect(Object.keys(none.schemas).filter((name) => name.endsWith('AgentInput'))).toEqual([])
    })

    it('is the same for an invalid token as without a token', async () => {
      const over = {
        config: { auth: { pepperRef: 'env:TEST_PEPPER' }, storage: { path: ':memory:' }, log: { level: 'silent' } },
      }
      process.env.TEST_PEPPER = 'p'.repeat(64)
      const secured = await createServer({ ...over, agents } as never)
      await secured.start({ listen: false })
      const read = (headers: Record<string, string>) =>
        secured.fetch(new Request('http://localhost/v1/openapi.json', { headers })).then((response) => response.text())

      const without = await read({})
      expect(without).not.toContain('ZodAgentInput')
      expect(await read({ Authorization: 'Bearer nonsense' })).toBe(without)
      await secured.stop({ force: true })
    })
  })
})
