import { describe, expect, it } from 'vitest'
import { createTestApp, get, refusalOf } from '../app.fixture.ts'

const noAuth = { authKind: 'none', host: '192.168.1.5', allowedHosts: ['perdure.example'] } as const

describe('the host check', () => {
  it.each(['localhost:8080', '127.0.0.1', '[::1]:8080', '192.168.1.5:80', 'Perdure.Example', 'perdure.example:443'])(
    'accepts %s without authentication',
    async (host) => {
      const { app } = createTestApp({ config: noAuth })

      expect((await app.fetch(get('/agents', { host }))).status).toBe(200)
    },
  )

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1', ''])(
    'refuses %j without authentication',
    async (host) => {
      const { app } = createTestApp({ config: noAuth })

      expect(await refusalOf(await app.fetch(get('/agents', { host })))).toEqual({ status: 421, error: 'host-denied' })
    },
  )

  it('accepts any host with token authentication', async () => {
    const { app } = createTestApp()

    expect((await app.fetch(get('/agents', { host: 'anything.example' }))).status).toBe(200)
  })
})
