import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, refusalOf } from '../app.fixture.ts'

describe('/openapi.json', () => {
  it('is the document of this server, for anyone', async () => {
    const { app } = createTestApp({ config: { basePath: '/v1' } })

    const response = await app.fetch(get('/openapi.json'))

    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await bodyOf(response)).toMatchObject({
      openapi: '3.1.1',
      servers: [{ url: '/v1' }],
      info: { version: '0.1.0' },
    })
  })

  it('is not there when documents are switched off', async () => {
    const { app } = createTestApp({ config: { docsEnabled: false } })

    expect(await refusalOf(await app.fetch(get('/openapi.json')))).toEqual({ status: 404, error: 'route-not-found' })
  })
})

describe('/asyncapi.json', () => {
  it('is the document of this server, for anyone', async () => {
    const { app } = createTestApp({ config: { basePath: '/v1' } })

    const response = await app.fetch(get('/asyncapi.json'))

    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toMatchObject({
      asyncapi: '3.0.0',
      info: { version: '0.1.0' },
      servers: { websocket: { pathname: '/v1', protocol: 'ws' } },
    })
  })

  it('is not there when documents are switched off', async () => {
    const { app } = createTestApp({ config: { docsEnabled: false } })

    expect(await refusalOf(await app.fetch(get('/asyncapi.json')))).toEqual({ status: 404, error: 'route-not-found' })
  })
})
