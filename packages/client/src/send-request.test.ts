import { PerdureError } from '@perdure/protocol/error'
import { describe, expect, it } from 'vitest'
import type { ClientOptions } from './client-options.ts'
import { buildClient, createClient } from './create-client.ts'
import { createManualPace, settle } from './manual-pace.fixture.ts'
import { json, noNetwork, refusal, scriptFetch, silence } from './scripted-fetch.fixture.ts'

const OUTCOME = { runId: 'run_1', status: 'completed' }

function setUp(replies: Parameters<typeof scriptFetch>, options: Partial<ClientOptions> = {}) {
  const pace = createManualPace()
  const { fetch, requests } = scriptFetch(...replies)
  const client = buildClient({ baseUrl: 'http://server/v1/', token: 'secret', fetch, ...options }, pace)
  return { client, requests, pace }
}

const failureOf = async (call: Promise<unknown>): Promise<PerdureError> => {
  const thrown: unknown = await call.then(
    () => undefined,
    (error) => error,
  )
  expect(thrown).toBeInstanceOf(PerdureError)
  return thrown as PerdureError
}

describe('a client call', () => {
  it('sends method, path, token, body and key, and returns the parsed body', async () => {
    const { client, requests } = setUp([json(OUTCOME)])

    expect(await client.agents.run('echo', { input: { text: 'hi' } })).toEqual(OUTCOME)

    const [request] = requests
    expect(request).toMatchObject({ method: 'POST', path: '/v1/agents/echo/run', body: { input: { text: 'hi' } } })
    expect(request?.headers.get('authorization')).toBe('Bearer secret')
    expect(request?.headers.get('content-type')).toBe('application/json')
    expect(request?.headers.get('idempotency-key')).toMatch(/^[0-9a-f]{32}$/)
  })

  it('sends no key and no body for a read', async () => {
    const { client, requests } = setUp([json({ id: 'run_1' })])

    await client.runs.get('run_1')

    expect(requests[0]?.headers.has('idempotency-key')).toBe(false)
    expect(requests[0]?.headers.has('content-type')).toBe(false)
    expect(requests[0]?.body).toBeUndefined()
  })

  it('uses the key, preference, headers and onAnswer of its options', async () => {
    const { client, requests } = setUp([json(OUTCOME, { status: 202, headers: { location: '/v1/runs/run_1' } })], {
      headers: { 'x-app': 'shop' },
    })
    const answers: string[] = []

    await client.agents.run(
      'echo',
      {},
      {
        idempotencyKey: 'order-17',
        prefer: 'respond-async',
        headers: { traceparent: '00-1-2-01' },
        onAnswer: ({ status, headers }) => answers.push(`${status} ${headers.get('location')}`),
      },
    )

    const headers = requests[0]?.headers
    expect(['idempotency-key', 'prefer', 'traceparent', 'x-app'].map((name) => headers?.get(name))).toEqual([
      'order-17',
      'respond-async',
      '00-1-2-01',
      'shop',
    ])
    expect(answers).toEqual(['202 /v1/runs/run_1'])
  })

  it('uses a new key for each call and the same key for its retries', async () => {
    const { client, requests, pace } = setUp([
      noNetwork(),
      refusal(503, 'server-draining'),
      json(OUTCOME),
      json(OUTCOME),
    ])

    const first = client.agents.run('echo')
    await pace.advance(60_000)
    await first
    await client.agents.run('echo')

    const keys = requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(new Set(keys).size).toBe(2)
  })

  it('waits for Retry-After before it retries', async () => {
    const { client, requests, pace } = setUp([
      refusal(429, 'rate-limit-exceeded', { 'retry-after': '7' }),
      json({ items: [], nextCursor: null }),
    ])

    const call = client.runs.list()
    await pace.advance(6_999)
    expect(requests).toHaveLength(1)
    await pace.advance(1_000)

    expect(requests).toHaveLength(2)
    expect(await call).toEqual({ items: [], nextCursor: null })
  })

  it('keeps waiting while its own first attempt is still executing', async () => {
    const inFlight = () => refusal(409, 'idempotency-in-flight', { 'retry-after': '1' })
    const { client, pace } = setUp([noNetwork(), ...Array.from({ length: 9 }, inFlight), json(OUTCOME)])

    const call = client.agents.run('echo')
    await pace.advance(60_000)

    expect(await call).toEqual(OUTCOME)
  })

  it('is not retried if a retry is unsafe or cannot help', async () => {
    const search = setUp([noNetwork()])
    const broken = setUp([refusal(500, 'internal-error')])
    const busy = setUp([refusal(409, 'agent-busy', { 'retry-after': '1' })])

    expect((await failureOf(search.client.memory.search({ query: 'x' }))).code).toBe('network-failed')
    expect((await failureOf(broken.client.agents.run('echo'))).code).toBe('internal-error')
    expect(await failureOf(busy.client.agents.run('echo'))).toMatchObject({ code: 'agent-busy', retryAfter: 1_000 })
  })

  it('throws the last error when all retries have failed', async () => {
    const { client, requests, pace } = setUp(Array.from({ length: 3 }, noNetwork), { maxRetries: 2 })

    const failed = failureOf(client.runs.get('run_1'))
    await pace.advance(60_000)

    expect(await failed).toMatchObject({ code: 'network-failed' })
    expect((await failed).status).toBeUndefined()
    expect(requests).toHaveLength(3)
  })

  it('throws timeout with a hint after timeoutMs', async () => {
    const { client, pace } = setUp([silence], { timeoutMs: 5_000 })

    const failed = failureOf(client.agents.run('echo'))
    await pace.advance(5_000)

    expect(await failed).toMatchObject({ code: 'timeout', hint: expect.stringContaining('idempotencyKey') })
    expect(pace.waiting()).toEqual([])
  })

  it.each(['before the response', 'between attempts'])("throws its signal's reason when aborted %s", async (when) => {
    const { client, pace } = setUp(when === 'before the response' ? [silence] : [noNetwork()])
    const controller = new AbortController()

    const call = client.runs.get('run_1', { signal: controller.signal })
    await settle()
    const reason = new Error('the user left')
    controller.abort(reason)

    await expect(call).rejects.toBe(reason)
    expect(pace.waiting()).toEqual([])
  })
})

describe('an error response', () => {
  it('becomes a PerdureError with every field of the envelope', async () => {
    const envelope = { error: 'scope-denied', message: 'no', hint: 'needs runs:read', requestId: 'req_9' }
    const { client } = setUp([json(envelope, { status: 403 })])

    expect(await failureOf(client.runs.get('run_1'))).toMatchObject({
      name: 'PerdureError',
      code: 'scope-denied',
      status: 403,
      message: 'no',
      hint: 'needs runs:read',
      requestId: 'req_9',
    })
  })

  it('suggests adding the base path to baseUrl for route-not-found', async () => {
    const { client } = setUp([refusal(404, 'route-not-found')], { baseUrl: 'http://server' })

    const { hint } = await failureOf(client.runs.get('run_1'))

    expect(hint).toContain('like http://server/v1; it is http://server')
  })

  it.each([
    ["a proxy's error page", new Response('<h1>no</h1>', { status: 404 }), 404],
    ['JSON without an envelope', json([1], { status: 404 }), 404],
    ['a 200 that is not JSON', new Response('<h1>hello</h1>', { headers: { 'x-request-id': 'req_2' } }), 200],
  ])('becomes invalid-answer for %s', async (_, response, status) => {
    const { client } = setUp([response])

    expect(await failureOf(client.runs.get('run_1'))).toMatchObject({ code: 'invalid-answer', status })
  })

  it('is returned as a result if the operation declares that status', async () => {
    const { client } = setUp([json({ status: 'failing' }, { status: 503 })])

    expect(await client.health.get()).toEqual({ status: 'failing' })
  })
})

describe('the token provider', () => {
  it('is called once more after a 401', async () => {
    const { client, requests } = setUp([refusal(401, 'auth-expired'), json({ id: 'run_1' })], {
      token: async ({ isRefused }) => (isRefused ? 'new' : 'old'),
    })

    await client.runs.get('run_1')

    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer old', 'Bearer new'])
  })

  it('fails the call if its new token is unchanged or also rejected', async () => {
    const twice = setUp([refusal(401, 'auth-invalid'), refusal(401, 'auth-revoked')], {
      token: ({ isRefused }) => (isRefused ? 'new' : 'old'),
    })
    const same = setUp([refusal(401, 'auth-invalid')])

    expect((await failureOf(twice.client.runs.get('run_1'))).code).toBe('auth-revoked')
    expect((await failureOf(same.client.runs.get('run_1'))).code).toBe('auth-invalid')
  })

  it('is optional', async () => {
    const { client, requests } = setUp([json({ status: 'ok' })], { token: undefined })

    await client.health.get()

    expect(requests[0]?.headers.has('authorization')).toBe(false)
  })
})

describe('baseUrl', () => {
  it.each(['', 'ftp://server/v1', '/v1', 'server/v1'])('rejects %j outside a page', (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(/baseUrl must be an http\(s\) URL/)
  })
})
