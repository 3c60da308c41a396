import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const APP = 'https://app.example'
const listed = { config: { allowOrigins: [APP] } }
const preflight = (origin: string, path = '/agents/echo/run') =>
  new Request(`${ORIGIN}/v1${path}`, {
    method: 'OPTIONS',
    headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
  })

describe('CORS', () => {
  it('sends no CORS headers to a request without an origin', async () => {
    const { app } = createTestApp(listed)

    const response = await app.fetch(post('/agents/echo/run', {}))

    expect(response.status).toBe(200)
    expect(response.headers.get('vary')).toBe('Origin')
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  })

  it('lets a page of an allowed origin send requests and read the exposed headers', async () => {
    const { app } = createTestApp(listed)

    const { status, headers } = await app.fetch(post('/agents/echo/run', {}, { Origin: APP }))

    expect(status).toBe(200)
    expect(headers.get('access-control-allow-origin')).toBe(APP)
    expect(headers.get('access-control-expose-headers')).toContain('Idempotency-Replayed')
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('lets a page read the size, the part, the name and the version of a file', async () => {
    const { app } = createTestApp(listed)
    const upload = { method: 'POST', body: 'hello', headers: { 'Content-Type': 'text/plain', Origin: APP } }
    const { id } = await bodyOf(await app.fetch(new Request(`${ORIGIN}/v1/files`, upload)))

    const { status, headers } = await app.fetch(get(`/files/${id}`, { Origin: APP, Range: 'bytes=1-2' }))

    expect(status).toBe(206)
    const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(', ')
    const readable = [...headers.keys()].filter((name) =>
      /^(etag|accept-ranges|content-(range|disposition))$/.test(name),
    )
    expect(readable).toHaveLength(4)
    expect(exposed).toEqual(expect.arrayContaining(readable))
  })

  it.each(['https://evil.example', 'null', `${APP}:444`, 'http://app.example'])(
    'refuses an unsafe request from %s',
    async (origin) => {
      const { app } = createTestApp(listed)

      const response = await app.fetch(post('/agents/echo/run', {}, { Origin: origin }))

      expect(response.headers.has('access-control-allow-origin')).toBe(false)
      expect(await refusalOf(response)).toEqual({ status: 403, error: 'cors-denied' })
    },
  )

  it('answers a safe request from another origin without letting the page read it', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(get('/agents', { Origin: 'https://evil.example' }))

    expect(response.status).toBe(200)
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  })

  it('lets a page of this server send requests', async () => {
    const { app } = createTestApp()
    const headers = { Origin: 'http://perdure.local:8080', Host: 'perdure.local:8080' }

    expect((await app.fetch(post('/agents/echo/run', {}, headers))).status).toBe(200)
  })

  it('lets pages of every origin send requests if allowOrigins contains *', async () => {
    const { app } = createTestApp({ config: { allowOrigins: ['*'] } })

    const response = await app.fetch(post('/agents/echo/run', {}, { Origin: 'https://any.example' }))

    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('answers the preflight of an allowed origin with the methods of the path', async () => {
    const { app } = createTestApp(listed)

    const { status, headers } = await app.fetch(preflight(APP))

    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(APP)
    expect(headers.get('access-control-allow-methods')).toBe('POST, OPTIONS')
    expect(headers.get('access-control-allow-headers')).toContain('Idempotency-Key')
  })

  it('refuses the preflight of any other origin', async () => {
    const { app } = createTestApp(listed)

    expect(await refusalOf(await app.fetch(preflight('https://evil.example')))).toEqual({
      status: 403,
      error: 'cors-denied',
    })
  })
})
