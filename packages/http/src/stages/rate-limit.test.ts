import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AppOptions, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'
import type { HttpEnv } from '../request/http-env.ts'

const env = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } })
const two = { config: { perIpRequests: 2 } }

describe('the rate limit', () => {
  it('sends the policy and the remaining quota with every response', async () => {
    const { app } = createTestApp({ config: { perIpRequests: 60 } })

    const { headers } = await app.fetch(get('/nowhere'))

    expect(headers.get('ratelimit-policy')).toBe('"per-ip";q=60;w=60')
    expect(headers.get('ratelimit')).toBe('"per-ip";r=59;t=60')
  })

  it.each<[string, Request, AppOptions, HttpEnv]>([
    ['a repeated header', get('/agents'), {}, { incoming: { rawHeaders: ['Host', 'a', 'Host', 'b'] } }],
    ['a host that is not allowed', get('/agents', { Host: 'evil.example' }), { config: { authKind: 'none' } }, {}],
    ['an origin that is not allowed', post('/agents/echo/run', {}, { Origin: 'https://evil.example' }), {}, {}],
    [
      'a preflight method',
      new Request(`${ORIGIN}/v1/agents`, { method: 'OPTIONS', headers: { Origin: ORIGIN } }),
      {},
      {},
    ],
    ['a wrong method', new Request(`${ORIGIN}/v1/agents`, { method: 'PATCH' }), {}, {}],
    ['a body that is not JSON', post('/agents/echo/run', '{'), {}, {}],
  ])('counts a request with %s', async (_, request, { config }, sentBy) => {
    const { app } = createTestApp({ config: { perIpRequests: 2, allowOrigins: [ORIGIN], ...config } })

    const { headers } = await app.fetch(request, sentBy)

    expect(headers.get('ratelimit-policy')).toBe('"per-ip";q=2;w=60')
    expect(headers.get('ratelimit')).toBe('"per-ip";r=1;t=60')
    expect((await app.fetch(get('/agents'))).headers.get('ratelimit')).toBe('"per-ip";r=0;t=60')
  })

  it('is checked before the rest of the request', async () => {
    const { app } = createTestApp({ config: { perIpRequests: 1 } })
    const repeated = { incoming: { rawHeaders: ['Host', 'a', 'Host', 'b'] } }
    await app.fetch(get('/agents'), repeated)

    expect(await refusalOf(await app.fetch(get('/agents'), repeated))).toEqual({
      status: 429,
      error: 'rate-limit-exceeded',
    })
  })

  it('lets a page of an allowed origin read the error', async () => {
    const { app } = createTestApp({ config: { perIpRequests: 1, allowOrigins: [ORIGIN] } })
    await app.fetch(get('/agents', { Origin: ORIGIN }))

    const { status, headers } = await app.fetch(get('/agents', { Origin: ORIGIN }))

    expect(status).toBe(429)
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN)
  })

  it('refuses requests over the limit with Retry-After', async () => {
    const { app, clock } = createTestApp(two)
    await app.fetch(get('/agents'))
    clock.advance(20_500)
    await app.fetch(get('/agents'))

    const refused = await app.fetch(get('/agents'))

    expect(refused.headers.get('retry-after')).toBe('40')
    expect(refused.headers.get('ratelimit')).toBe('"per-ip";r=0;t=40')
    expect(await refusalOf(refused)).toEqual({ status: 429, error: 'rate-limit-exceeded' })

    clock.advance(39_500)
    expect((await app.fetch(get('/agents'))).status).toBe(200)
  })

  it('counts each client address separately', async () => {
    const { app } = createTestApp({ config: { perIpRequests: 1 } })
    const statusFor = async (address: string) => (await app.fetch(get('/agents'), env(address))).status

    expect(await statusFor('192.0.2.1')).toBe(200)
    expect(await statusFor('192.0.2.1')).toBe(429)
    expect(await statusFor('192.0.2.2')).toBe(200)
    expect(await statusFor('2001:db8::1')).toBe(200)
    expect(await statusFor('2001:db8::2')).toBe(429)
  })

  it('counts health probes and metrics scrapes separately', async () => {
    const { app } = createTestApp(two)
    const statusOf = async (path: string) => (await app.fetch(get(path))).status
    await statusOf('/agents')
    await statusOf('/agents')

    expect(await statusOf('/health')).toBe(200)
    expect(await statusOf('/health/live')).toBe(200)
    expect(await statusOf('/metrics')).toBe(429)
    expect(await statusOf('/healthy')).toBe(429)
  })

  it('counts requests that follow a run through another protocol separately', async () => {
    const { app } = createTestApp({ config: { perIpRequests: 1, pollsPerMinute: 3 } })
    const quotaOf = async (request: Request) => (await app.fetch(request)).headers.get('ratelimit')
    const mcp = (method: string) => post('/mcp', {}, { 'Mcp-Method': method })

    expect(await quotaOf(get('/agents/echo/chat/c/stream'))).toBe('"per-ip";r=2;t=60')
    expect(await quotaOf(get('/mcp', { 'Last-Event-ID': 'x' }))).toBe('"per-ip";r=1;t=60')
    expect(await quotaOf(mcp('tasks/get'))).toBe('"per-ip";r=0;t=60')
    expect((await app.fetch(get('/agents/echo/ag-ui/r'))).status).toBe(429)
    expect(await quotaOf(mcp('tools/call'))).toBe('"per-ip";r=0;t=60')
    expect((await app.fetch(post('/agents/echo/chat', {}))).status).toBe(429)
  })

  it('counts a poll once for each started MiB that it costs', async () => {
    const charged = [0, 1_048_576, 1_048_577, 5 * 1_048_576, 1_000 * 1_048_576]
    const remaining = await Promise.all(
      charged.map(async (bytes) => {
        const { app } = createTestApp({
          config: { pollsPerMinute: 10 },
          deps: {
            callProtocol: async (_protocol, _name, { charge }) => {
              charge?.(bytes)
              return new Response('{}')
            },
          },
        })
        await app.fetch(get('/openai/responses/resp_run_1'))
        const next = await app.fetch(get('/openai/responses/resp_run_1'))
        return next.status === 429 ? 'refused' : Number(/r=(\d+)/.exec(next.headers.get('ratelimit') ?? '')?.[1])
      }),
    )
    expect(remaining).toEqual([8, 8, 7, 4, 'refused'])
  })

  it('admits exactly the limit per minute, and sends an accurate Retry-After', async () => {
    const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 45_000 })), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), pauses, async (perIpRequests, pausesMs) => {
        const { app, clock } = createTestApp({ config: { perIpRequests } })
        const accepted: number[] = []
        const request = async () => {
          const now = clock.monotonicMs()
          const inWindow = accepted.filter((at) => at > now - 60_000).length
          const { status, headers } = await app.fetch(get('/agents'))
          expect(status).toBe(inWindow < perIpRequests ? 200 : 429)
          if (status === 200) accepted.push(now)
          expect(headers.get('ratelimit-policy')).toBe(`"per-ip";q=${perIpRequests};w=60`)
          const remaining = perIpRequests - inWindow - (status === 200 ? 1 : 0)
          expect(headers.get('ratelimit')).toMatch(new RegExp(`^"per-ip";r=${remaining};t=\\d+$`))
          return headers.get('retry-after')
        }
        for (const pauseMs of pausesMs) {
          clock.advance(pauseMs)
          const retryAfter = await request()
          if (retryAfter === null) continue
          clock.advance(Number(retryAfter) * 1_000 - 1_000)
          if (Number(retryAfter) > 1) await request()
          clock.advance(1_000)
          expect(await request()).toBeNull()
        }
      }),
      { numRuns: 60 },
    )
  })
})
