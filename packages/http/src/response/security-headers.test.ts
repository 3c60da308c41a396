import { OPERATIONS } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { createTestApp, get, ORIGIN, post } from '../app.fixture.ts'
import { toRequest } from '../operation-request.fixture.ts'

function expectGuarded({ headers }: Response) {
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('cache-control')).toMatch(/no-store|no-cache/)
  expect(headers.get('vary')).toContain('Origin')
  expect(headers.get('x-request-id')).toMatch(/./)
  expect(headers.get('ratelimit')).toMatch(/./)
}

describe('the HTTP app', () => {
  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    'sends the security headers with the response of %s',
    async (_, operation) => {
      const { app } = createTestApp()

      const response = await app.fetch(toRequest(operation, {}))

      expectGuarded(response)
    },
  )

  it.each([
    ['an unknown path', get('/nowhere')],
    ['a wrong method', new Request(`${ORIGIN}/v1/agents`, { method: 'PATCH' })],
    ['a body that is not JSON', post('/agents/echo/run', '{')],
    ['an origin that is not allowed', post('/agents/echo/run', {}, { Origin: 'https://evil.example' })],
  ])('sends the security headers with the error response to %s', async (_, request) => {
    const response = await createTestApp().app.fetch(request)

    expectGuarded(response)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })
})
