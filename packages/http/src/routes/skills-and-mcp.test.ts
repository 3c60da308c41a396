import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const remove = (path: string) => new Request(`${ORIGIN}/v1${path}`, { method: 'DELETE' })

describe('/skills', () => {
  it('lists, returns, installs and removes skills', async () => {
    const { app } = createTestApp()

    const installed = await app.fetch(post('/skills/install', { source: 'team/doc' }))
    expect([installed.status, installed.headers.get('location')]).toEqual([201, '/v1/skills/doc'])
    expect((await bodyOf(await app.fetch(get('/skills?order=asc')))).items).toMatchObject([
      { name: 'doc', status: 'ready' },
      { name: 'pdf', status: 'ready' },
    ])
    expect(await bodyOf(await app.fetch(get('/skills/pdf')))).toMatchObject({
      instructions: 'Open the form.',
      files: [],
    })

    expect((await app.fetch(remove('/skills/doc'))).status).toBe(204)
    expect(await refusalOf(await app.fetch(get('/skills/doc')))).toEqual({ status: 404, error: 'skill-not-found' })
  })

  it.each(['../secret', '/etc', 'a\\b', 'nowhere'])('rejects the installation source %s', async (source) => {
    const { app } = createTestApp()

    expect(await refusalOf(await app.fetch(post('/skills/install', { source })))).toEqual({
      status: 400,
      error: 'validation-failed',
    })
  })
})

describe('/mcp/servers', () => {
  const web = { id: 'web', transport: 'http', url: 'https://mcp.example/mcp' }

  it('adds, lists, calls and removes MCP servers', async () => {
    const { app } = createTestApp()

    expect((await app.fetch(post('/mcp/servers', web))).status).toBe(201)
    expect((await bodyOf(await app.fetch(get('/mcp/servers')))).items).toMatchObject([{ ...web, source: 'api' }])
    expect((await bodyOf(await app.fetch(get('/mcp/servers/web/tools')))).items).toMatchObject([{ name: 'echo' }])
    const called = await app.fetch(post('/mcp/servers/web/tools/echo/call', { arguments: { a: 1 } }))
    expect(await bodyOf(called)).toEqual({ ok: true, value: { a: 1 } })
    expect((await app.fetch(remove('/mcp/servers/web'))).status).toBe(204)
    expect(await refusalOf(await app.fetch(get('/mcp/servers/web/tools')))).toEqual({
      status: 404,
      error: 'mcp-server-not-found',
    })
  })

  it.each([
    ['a stdio server', { id: 'sh', transport: 'stdio', command: 'sh' }, 400, 'validation-failed'],
    ['a server with both a url and a command', { ...web, command: 'sh' }, 400, 'validation-failed'],
    ['a secret in place of a secret reference', { ...web, headersRef: 'Bearer abc' }, 400, 'validation-failed'],
    ['a host that is not allowed', { ...web, url: 'https://other.example/' }, 403, 'mcp-host-denied'],
    ['a secret reference that is not allowed', { ...web, headersRef: 'env:PEPPER' }, 403, 'mcp-headers-denied'],
  ])('rejects %s', async (_, server, status, error) => {
    const { app } = createTestApp()

    expect(await refusalOf(await app.fetch(post('/mcp/servers', server)))).toEqual({ status, error })
  })
})
