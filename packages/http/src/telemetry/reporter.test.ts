import { perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { takeUndeclared } from '../../../../tooling/undeclared-errors.ts'
import { createTestApp, get } from '../app.fixture.ts'

const alice = { authenticate: async () => ({ subject: 'alice', scopes: ['admin:*'] }) }

describe('the request log', () => {
  it('has one line per request, without query values or secrets', async () => {
    const { app, lines } = createTestApp({ deps: alice })

    await app.fetch(get('/agents/echo?secret=hunter2', { Authorization: 'Bearer hunter2', 'X-Request-Id': 'r1' }))

    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain('hunter2')
    expect(lines.at(-1)).toEqual({
      level: 'warn',
      message: 'request',
      fields: {
        requestId: 'r1',
        operationId: 'agents.get',
        method: 'GET',
        route: '/v1/agents/:agentId',
        status: 400,
        durationMs: 0,
        bytes: expect.any(Number),
        subject: 'alice',
        tokenId: undefined,
        traceId: undefined,
        error: 'validation-failed',
      },
    })
  })

  it('includes the token id, the trace id and the body length', async () => {
    const authenticate = async () => ({ subject: 'alice', tokenId: 'tok_1', scopes: ['admin:*'] })
    const { app, lines } = createTestApp({ deps: { authenticate } })
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

    const response = await app.fetch(get('/agents', { traceparent }))

    const bytes = (await response.arrayBuffer()).byteLength
    const expected = { tokenId: 'tok_1', traceId: 'a'.repeat(32), bytes, status: 200 }
    expect(lines).toMatchObject([{ level: 'info', message: 'request', fields: expected }])
  })

  it('uses the level info, warn or error by status', async () => {
    const broken = { document: () => Promise.reject(new Error('bug')), live: () => ({ status: 'ok' }) as const }
    const readHealth = { ...broken, ready: async () => ({ status: 'ready' }) as const }
    const { app, lines } = createTestApp({ deps: { readHealth } })

    for (const path of ['/health/live', '/nowhere', '/health']) await app.fetch(get(path))

    const own = lines.filter(({ message }) => message === 'request')
    expect(own.map(({ level, fields }) => [level, fields?.status])).toEqual([
      ['info', 200],
      ['warn', 404],
      ['error', 500],
    ])
  })

  it('has a null route for unmatched paths', async () => {
    const { app, lines, notes } = createTestApp()

    await app.fetch(get('/nowhere/hunter2'))

    expect(lines[0]?.fields).toMatchObject({ route: null, status: 404, error: 'route-not-found' })
    expect(notes).toMatchObject([{ operationId: undefined, route: undefined, target: undefined, status: 404 }])
  })

  it('reports an error that the operation does not declare', async () => {
    const refuse = () => Promise.reject(perdureError('skill-exists'))
    const readHealth = { document: refuse, live: () => ({ status: 'ok' }) as const, ready: refuse }
    const { app, lines } = createTestApp({ deps: { readHealth } })

    const response = await app.fetch(get('/health'))

    expect(response.status).toBe(409)
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error', message: 'undeclared error' }))
    expect(takeUndeclared()).toEqual(['health.get answered with skill-exists'])
  })
})

describe('the answer note', () => {
  const env = { incoming: { socket: { remoteAddress: '192.0.2.1' } } }

  it('records the principal, operation, target and outcome', async () => {
    const { app, notes } = createTestApp({ deps: alice })

    await app.fetch(get('/agents/echo', { 'X-Request-Id': 'r1' }), env)
    await app.fetch(get('/workflows/steps/state?threadId=t'), env)

    expect(notes[0]).toMatchObject({
      requestId: 'r1',
      operationId: 'agents.get',
      method: 'GET',
      route: '/v1/agents/:agentId',
      target: 'echo',
      principal: { subject: 'alice', scopes: ['admin:*'] },
      status: 200,
      error: undefined,
      durationMs: 0,
      clientAddress: '192.0.2.1',
    })
    expect(notes[1]).toMatchObject({ target: 'steps', status: 404, error: 'thread-not-found' })
  })

  it('is also written for refused requests, with their principal', async () => {
    const denied = createTestApp({ deps: { authenticate: async () => ({ subject: 'bob', scopes: [] }) } })
    const failed = createTestApp({ auth: 'token' })
    const limited = createTestApp({ config: { perIpRequests: 1 } })

    await denied.app.fetch(get('/agents'), env)
    await failed.app.fetch(get('/agents', { Authorization: 'Bearer junk' }), env)
    for (let n = 0; n < 2; n++) await limited.app.fetch(get('/agents'), env)

    expect(denied.notes).toMatchObject([{ principal: { subject: 'bob' }, status: 403, error: 'scope-denied' }])
    expect(failed.notes).toMatchObject([{ principal: undefined, status: 401, error: 'auth-invalid' }])
    expect(limited.notes.at(-1)).toMatchObject({ operationId: 'agents.list', status: 429, clientAddress: '192.0.2.1' })
  })
})
