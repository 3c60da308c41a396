import { AppError } from '@berth/ports'
import { describe, expect, it } from 'vitest'
import { createTestApp, get } from './app.fixture.ts'

const alice = { authenticate: async () => ({ subject: 'alice', scopes: ['admin:*'] }) }

describe('the request log', () => {
  it('has one line per request, without query values or secrets', async () => {
    const { app, lines } = createTestApp({ deps: alice })

    await app.fetch(get('/agents/echo?secret=hunter2', { Authorization: 'Bearer hunter2', 'X-Request-Id': 'r1' }))

    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain('hunter2')
    expect(lines.at(-1)).toEqual({
      level: 'info',
      message: 'request',
      fields: {
        requestId: 'r1',
        operationId: 'agents.get',
        method: 'GET',
        route: '/v1/agents/:agentId',
        status: 400,
        durationMs: 0,
        subject: 'alice',
        error: 'validation-failed',
      },
    })
  })

  it('names no route where there is none', async () => {
    const { app, lines, notes } = createTestApp()

    await app.fetch(get('/nowhere/hunter2'))

    expect(lines[0]?.fields).toMatchObject({ route: null, status: 404, error: 'route-not-found' })
    expect(notes).toEqual([{ operationId: undefined, status: 404, error: 'route-not-found' }])
  })

  it('reports an error that the operation does not declare', async () => {
    const refuse = () => Promise.reject(new AppError('skill-exists'))
    const readHealth = { document: refuse, live: () => ({ status: 'ok' }) as const, ready: refuse }
    const { app, lines } = createTestApp({ deps: { readHealth } })

    const response = await app.fetch(get('/health'))

    expect(response.status).toBe(409)
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error', message: 'undeclared error' }))
  })

  it('notes every answer', async () => {
    const { app, notes } = createTestApp()

    await app.fetch(get('/agents'))

    expect(notes).toEqual([{ operationId: 'agents.list', status: 200, error: undefined }])
  })
})
