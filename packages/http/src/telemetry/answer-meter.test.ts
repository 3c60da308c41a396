import { createInMemoryMeter } from '@perdure/in-memory'
import { perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { type AppOptions, createTestApp, get, ORIGIN, post } from '../app.fixture.ts'

function metered({ config, deps }: AppOptions = {}) {
  const meter = createInMemoryMeter()
  const { app } = createTestApp({ config, deps: { meter, ...deps } })
  const moved = (prefix: string) =>
    Object.fromEntries([...meter.values].filter(([series]) => series.startsWith(prefix)))
  return { app, moved }
}

describe('createAnswerMeter', () => {
  it('labels requests with the route, never the path', async () => {
    const { app, moved } = metered()

    await app.fetch(get('/agents/echo'))
    await app.fetch(get('/agents/nobody'))

    expect(moved('svc_http_requests_total')).toEqual({
      'svc_http_requests_total{method="GET",route="/v1/agents/:agentId",status="200"}': 1,
      'svc_http_requests_total{method="GET",route="/v1/agents/:agentId",status="404"}': 1,
    })
    expect(moved('svc_http_request_duration_seconds_count')).toEqual({
      'svc_http_request_duration_seconds_count{method="GET",route="/v1/agents/:agentId"}': 2,
    })
  })

  it('uses one label for all unmatched paths and another for all unknown methods', async () => {
    const { app, moved } = metered()

    for (const method of ['PROPFIND', 'MKCOL']) await app.fetch(new Request(`${ORIGIN}/v1/${method}`, { method }))

    expect(moved('svc_http_requests_total')).toEqual({
      'svc_http_requests_total{method="other",route="unmatched",status="404"}': 2,
    })
  })

  it('counts authentication failures by code, but not missing scopes', async () => {
    const refuse = (code: 'auth-expired' | 'scope-denied') =>
      metered({ deps: { authenticate: () => Promise.reject(perdureError(code)) } })
    const expired = refuse('auth-expired')
    const denied = refuse('scope-denied')

    for (const { app } of [expired, denied]) await app.fetch(get('/agents'))

    expect(expired.moved('svc_auth')).toEqual({ 'svc_auth_failures_total{code="auth-expired"}': 1 })
    expect(denied.moved('svc_auth')).toEqual({})
  })

  it('counts requests over the rate limit', async () => {
    const { app, moved } = metered({ config: { perIpRequests: 1 } })

    for (let n = 0; n < 3; n++) await app.fetch(get('/agents'))

    expect(moved('svc_rate_limited_total')).toEqual({ svc_rate_limited_total: 2 })
  })
})

describe('the idempotency metric', () => {
  const OUTCOME = 'svc_idempotency_requests_total'
  const run = (key?: string, input: unknown = 1) =>
    post('/agents/echo/run', { input }, key === undefined ? {} : { 'Idempotency-Key': key })

  it('counts the outcome of each key', async () => {
    const { app, moved } = metered()
    const requests = [run(), run('a'), run('a'), run('a', 2), run('not valid'), post('/agents/hold/stream', {})]

    for (const request of requests) await app.fetch(request)
    await app.fetch(get('/agents'))

    expect(moved(OUTCOME)).toEqual({
      [`${OUTCOME}{outcome="missing"}`]: 2,
      [`${OUTCOME}{outcome="new"}`]: 1,
      [`${OUTCOME}{outcome="replayed"}`]: 1,
      [`${OUTCOME}{outcome="conflict"}`]: 1,
      [`${OUTCOME}{outcome="invalid"}`]: 1,
    })
  })

  it('counts a key that is still executing as in-flight', async () => {
    const { app, moved } = metered()
    const held = () => post('/agents/hold/run', {}, { 'Idempotency-Key': 'k' })
    app.fetch(held()).catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))

    await app.fetch(held())

    expect(moved(OUTCOME)).toEqual({ [`${OUTCOME}{outcome="in-flight"}`]: 1 })
  })

  it('counts a request rejected for a missing key, but not one refused before the key check', async () => {
    const { app, moved } = metered({ config: { requireKey: 'enforce' } })

    await app.fetch(run())
    await app.fetch(post('/agents/echo/run', '{'))

    expect(moved(OUTCOME)).toEqual({ [`${OUTCOME}{outcome="missing"}`]: 1 })
  })
})
