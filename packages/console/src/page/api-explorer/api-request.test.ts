import { describe, expect, it } from 'vitest'
import { checkRequired, commandOf, fetchCode, requestOf } from './api-request.ts'

const operation = {
  method: 'POST',
  path: '/agents/{agentId}/run',
  parameters: [
    { name: 'agentId', in: 'path', required: true },
    { name: 'limit', in: 'query' },
    { name: 'cursor', in: 'query' },
    { name: 'Idempotency-Key', in: 'header' },
  ],
}
const input = { body: '{}', accept: 'application/json' }

describe('requestOf', () => {
  it('puts values into path, query and headers, and omits empty ones', () => {
    const values = { agentId: 'a/b', limit: '', cursor: 'x y', 'Idempotency-Key': 'order-17' }

    expect(requestOf(operation, { ...input, values }, 'http://h/v1')).toEqual({
      method: 'POST',
      url: 'http://h/v1/agents/a%2Fb/run?cursor=x+y',
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'Idempotency-Key': 'order-17' },
      body: '{}',
    })
  })

  it('keeps the name of a parameter of the path that has no value', () => {
    expect(requestOf(operation, { ...input, values: {} }, '').url).toBe('/agents/{agentId}/run')
  })
})

describe('checkRequired', () => {
  it('throws an error that names a missing required value', () => {
    expect(() => checkRequired(operation, { agentId: '' })).toThrow('agentId is required')
    expect(() => checkRequired(operation, { agentId: 'a' })).not.toThrow()
  })
})

describe('the copied texts', () => {
  it('contain the request without the token', () => {
    const request = requestOf(operation, { ...input, values: { agentId: 'a' } }, 'http://h/v1')

    expect(fetchCode(request)).toContain('"Authorization": "Bearer <token>"')
    expect(commandOf('agents.run', { values: { agentId: "it's" }, body: '{}' })).toBe(
      "perdure api agents.run -f 'agentId=it'\\''s' --input '{}'",
    )
  })
})
