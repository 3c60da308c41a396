import { describe, expect, it } from 'vitest'
import { createTestApp, get, ORIGIN, refusalOf } from '../app.fixture.ts'

const send = (method: string, path: string) => new Request(`${ORIGIN}${path}`, { method })

describe('routing', () => {
  it.each(['/v1/nowhere', '/v1', '/', '/agents', '/v1/agents/', '/v1/agents//state', '/v1/agents/a/b/c'])(
    'answers route-not-found for %s',
    async (path) => {
      const { app } = createTestApp()

      const response = await app.fetch(send('GET', path))

      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await refusalOf(response)).toEqual({ status: 404, error: 'route-not-found' })
    },
  )

  // Below a mount path, the root belongs to the other server.
  const roots = process.env.HTTP_MOUNT_PATH === undefined ? ['/', '/v1', '/v1/'] : ['/v1', '/v1/']
  it.each(roots)('redirects a browser that opens %s to the docs page', async (path) => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const browse = (docsEnabled: boolean) =>
      createTestApp({ config: { docsEnabled } }).app.fetch(new Request(`${ORIGIN}${path}`, { headers: { accept } }))

    const redirect = await browse(true)

    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/v1/docs'])
    expect(await refusalOf(await browse(false))).toEqual({ status: 404, error: 'route-not-found' })
  })

  it('lists the allowed methods of a path for a wrong method', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(send('DELETE', '/v1/agents/echo'))

    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(await refusalOf(response)).toEqual({ status: 405, error: 'method-not-allowed' })
  })

  it.each([
    ['GET', '/v1/openai/embeddings', 404, 'route-not-found'],
    ['DELETE', '/v1/openai/responses/resp_1', 405, 'method-not-allowed'],
  ])(
    'answers %s %s, below the routes of one protocol, in the form of the protocol',
    async (method, path, status, code) => {
      const response = await createTestApp().app.fetch(send(method, path))

      expect(response.status).toBe(status)
      expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', code } })
    },
  )

  it('answers OPTIONS with the allowed methods, or 404 for an unknown path', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(send('OPTIONS', '/v1/agents/echo/run'))

    expect(response.status).toBe(204)
    expect(response.headers.get('allow')).toBe('POST, OPTIONS')
    expect((await app.fetch(send('OPTIONS', '/v1/nowhere'))).status).toBe(404)
  })

  it('answers HEAD like GET, but without a body', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(send('HEAD', '/v1/agents/echo'))

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await response.text()).toBe('')
  })

  it('decodes path parameters exactly once', async () => {
    const { app } = createTestApp()

    expect((await app.fetch(get('/agents/ech%6F'))).status).toBe(200)
    expect(await refusalOf(await app.fetch(get('/agents/ech%256F')))).toEqual({ status: 404, error: 'agent-not-found' })
    expect(await refusalOf(await app.fetch(get('/agents/%E0')))).toEqual({ status: 404, error: 'agent-not-found' })
  })
})
