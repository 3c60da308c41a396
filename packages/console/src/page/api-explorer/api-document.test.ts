import { describe, expect, it } from 'vitest'
import { type ApiDocument, bodyExample, operationsOf, requestPath, resolved } from './api-document.ts'

const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Fact' } } } }
const DOCUMENT: ApiDocument = {
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
const parameters = [
  { name: 'id', in: 'path', required: true },
  { name: 'limit', in: 'query' },
  { name: 'Prefer', in: 'header' },
]
const operation = { path: '/facts/{id}', parameters }

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

  it('puts parameters into the path and the query, escaped', () => {
    expect(requestPath(operation, { id: 'a/b', limit: '5', Prefer: 'wait=1' })).toBe('/facts/a%2Fb?limit=5')
    expect(requestPath(operation, { id: 'a' })).toBe('/facts/a')
    expect(() => requestPath(operation, {})).toThrow('id is missing')
  })
})
