import { describe, expect, it } from 'vitest'
import { curlOf, requestOf } from './request-of.ts'

const agentId = { name: 'agentId', in: 'path', required: true } as const
const limit = { name: 'limit', in: 'query' } as const
const key = { name: 'Idempotency-Key', in: 'header' } as const

describe('requestOf', () => {
  it('inserts values into path, query and headers, and omits empty ones', () => {
    const values = [
      { ...agentId, value: 'a/b' },
      { ...limit, value: '' },
      { ...limit, name: 'cursor', value: 'x y' },
      { ...key, value: 'order-17' },
    ]

    expect(requestOf({ method: 'POST', path: '/agents/{agentId}/run', values, body: '{}' }, 'http://h/v1')).toEqual({
      method: 'POST',
      url: 'http://h/v1/agents/a%2Fb/run?cursor=x+y',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'order-17' },
      body: '{}',
    })
  })

  it('throws an error that names a missing required value', () => {
    const values = [{ ...agentId, value: '' }]

    expect(() => requestOf({ method: 'GET', path: '/agents/{agentId}', values }, '')).toThrow('agentId is required')
  })
})

describe('curlOf', () => {
  it('formats the request with shell quoting and without the token', () => {
    const body = '{\n  "text": "it\'s"\n}'
    const request = requestOf({ method: 'POST', path: '/x', values: [], body, accept: 'text/event-stream' }, 'http://h')

    expect(curlOf(request, true)).toBe(
      [
        "curl -i -X POST 'http://h/x' \\",
        '  -N \\',
        '  -H "Authorization: Bearer $TOKEN" \\',
        "  -H 'Content-Type: application/json' \\",
        "  -H 'Accept: text/event-stream' \\",
        `  -d '{ "text": "it'\\''s" }'`,
      ].join('\n'),
    )
    expect(curlOf(request, false)).not.toContain('TOKEN')
  })
})
