import { describe, expect, it } from 'vitest'
import { type ApiDocument, acceptsOf, bodyExample, limitsOf, operationsOf, resolved } from './api-document.ts'

const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Fact' } } } }
const DOCUMENT: ApiDocument = {
  info: { title: 'Facts', version: '1' },
  paths: {
    '/facts/{id}': {
      parameters: [{ $ref: '#/components/parameters/id' }],
      get: { operationId: 'facts.get', responses: { 404: { $ref: '#/components/responses/notFound' } } },
      post: { operationId: 'facts.write', parameters: [{ name: 'limit', in: 'query' }], requestBody: body },
    },
  },
  components: {
    parameters: { id: { name: 'id', in: 'path', required: true } },
    responses: { notFound: { description: 'No such fact.' } },
    schemas: { Fact: { type: 'object', examples: [{ text: 'tea' }] } },
  },
}
describe('the document of the API', () => {
  it('lists operations with their addresses', () => {
    expect(operationsOf(DOCUMENT).map(({ method, path, operationId }) => `${method} ${path} ${operationId}`)).toEqual([
      'GET /facts/{id} facts.get',
      'POST /facts/{id} facts.write',
    ])
  })

  it('resolves references to parameters and responses, also those of all operations of a path', () => {
    const [read, write] = operationsOf(DOCUMENT)

    expect(read?.parameters.map(({ name }) => name)).toEqual(['id'])
    expect(write?.parameters.map(({ name }) => name)).toEqual(['id', 'limit'])
    expect(read?.responses).toEqual({ 404: { description: 'No such fact.' } })
  })

  it('resolves references, and finds the example of a body', () => {
    expect(resolved(DOCUMENT, { $ref: '#/components/schemas/Fact' }).name).toBe('Fact')
    expect(resolved(DOCUMENT, { type: 'string' })).toEqual({ schema: { type: 'string' } })
    expect(bodyExample(DOCUMENT, { requestBody: body })).toBe('{\n  "text": "tea"\n}')
    expect(bodyExample(DOCUMENT, {})).toBeUndefined()
  })

  it('finds the example of a body that is a component', () => {
    const content = { 'application/json': { examples: { Fact: { $ref: '#/components/examples/Fact' } } } }
    const components = { examples: { Fact: { value: { text: 'coffee' } } } }

    expect(bodyExample({ components }, { requestBody: { content } })).toBe('{\n  "text": "coffee"\n}')
  })

  it('lists the media types of successful answers', () => {
    const failure = { content: { 'application/problem+json': {} } }
    const success = { content: { 'application/json': {}, 'text/event-stream': {} } }

    expect(acceptsOf({ responses: { 200: success, 201: success, 404: failure } })).toEqual([
      'application/json',
      'text/event-stream',
    ])
    expect(acceptsOf({ responses: { 404: failure } })).toEqual([])
  })

  it.each([
    [{ type: 'string', minLength: 1, maxLength: 128 }, '1 to 128 characters'],
    [{ type: 'string', pattern: '^a$' }, 'matches ^a$'],
    [{ type: 'integer', minimum: 1, default: 3 }, 'at least 1, default 3'],
    [{ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: 200 }, 'at most 200'],
    [{ type: 'array', minItems: 1, maxItems: 3 }, '1 to 3 items'],
    [{ type: 'string', format: 'date-time' }, 'date-time'],
    [{ type: 'string' }, ''],
  ])('describes the limits of %j', (schema, expected) => {
    expect(limitsOf(schema)).toBe(expected)
  })
})
