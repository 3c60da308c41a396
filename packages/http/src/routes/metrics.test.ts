import { describe, expect, it } from 'vitest'
import { createTestApp, get, refusalOf } from '../app.fixture.ts'

const as =
  (...scopes: string[]) =>
  async () => ({ subject: 'scraper', scopes })

describe('/metrics', () => {
  it('requires no token by default, and answers in the exposition format', async () => {
    const authenticate = () => Promise.reject(new Error('no authentication was expected'))
    const { app } = createTestApp({ config: { metricsRequireAuth: false }, deps: { authenticate } })

    const response = await app.fetch(get('/metrics'))

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await response.text()).toBe('svc_up 1\n')
  })

  it('requires its scope if metrics.requireAuth is set', async () => {
    const config = { metricsRequireAuth: true }
    const refused = createTestApp({ config, deps: { authenticate: as('agents:read') } })
    const allowed = createTestApp({ config, deps: { authenticate: as('admin:metrics:read') } })

    expect(await refusalOf(await refused.app.fetch(get('/metrics')))).toEqual({ status: 403, error: 'scope-denied' })
    expect((await allowed.app.fetch(get('/metrics'))).status).toBe(200)
  })

  it.each([false, true])(
    'answers without a lease, unlike an operation that reads rows (requireAuth: %s)',
    async (auth) => {
      const deps = { authenticate: as('admin:metrics:read', 'agents:read'), hasLease: () => false }
      const { app } = createTestApp({ config: { metricsRequireAuth: auth }, deps })

      expect((await app.fetch(get('/metrics'))).status).toBe(200)
      expect((await app.fetch(get('/health/live'))).status).toBe(200)
      expect(await refusalOf(await app.fetch(get('/agents')))).toEqual({ status: 503, error: 'storage-unavailable' })
    },
  )

  it('answers 404 when metrics are disabled', async () => {
    const { app } = createTestApp({ config: { metricsEnabled: false } })

    expect(await refusalOf(await app.fetch(get('/metrics')))).toEqual({ status: 404, error: 'route-not-found' })
  })
})
