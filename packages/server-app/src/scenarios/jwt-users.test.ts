import { once } from 'node:events'
import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { jwtOf, nowSeconds, rsaJwtOf, startJwtServer } from './jwt-server.fixture.ts'
import { connect } from './web-socket-client.fixture.ts'

type Server = Awaited<ReturnType<typeof startJwtServer>>

const json = async (response: Response) => (await response.json()) as Record<string, string>
const startRun = async ({ call }: Server, jwt: string, headers: Record<string, string> = {}) =>
  json(await call(jwt, '/agents/slow/run', { body: { input: 'hi' }, headers: { prefer: 'respond-async', ...headers } }))
const revoke = (
  { call }: Server,
  subject: string,
  body: object = {},
  jwt = rsaJwtOf('tokens:revoke', { sub: 'ops' }),
) => call(jwt, `/subjects/${encodeURIComponent(subject)}/revoke`, { body })

describe('the user of a JWT', () => {
  it('owns what it starts, and sees nothing of other users and issuers', async () => {
    const server = await startJwtServer()
    const { runId = '' } = await startRun(server, jwtOf())
    const others = [jwtOf({ sub: 'bob' }), rsaJwtOf('runs:read:own')]

    expect((await server.call(jwtOf({ jti: 'renewed' }), `/runs/${runId}`)).status).toBe(200)
    for (const other of others) expect((await server.call(other, `/runs/${runId}`)).status).toBe(404)
    const run = await server.storage.runs.find(runId, EVERY_ROW)
    expect(run?.owner).toBe('jwt:app:alice')
  })

  it('may do what its scopes allow and nothing else', async () => {
    const { call } = await startJwtServer()

    expect(await json(await call(jwtOf(), '/tokens'))).toMatchObject({ error: 'scope-denied' })
    expect((await call(rsaJwtOf('agents:read'), '/agents')).status).toBe(200)
    expect((await call(rsaJwtOf('admin:* sessions:read:own'), '/agents')).status).toBe(403)
  })

  it('keeps its idempotency keys when it renews its JWT, and shares them with nobody', async () => {
    const server = await startJwtServer()
    const key = { 'idempotency-key': 'one' }
    const first = await startRun(server, jwtOf(), key)
    const repeated = await startRun(server, jwtOf({ exp: nowSeconds() + 200 }), key)
    const other = await startRun(server, jwtOf({ sub: 'bob' }), key)

    expect(repeated.runId).toBe(first.runId)
    expect(other.runId).not.toBe(first.runId)
  })

  it('opens a WebSocket with a ticket, under its own subject', async () => {
    const { call, url } = await startJwtServer()
    const { ticket } = await json(await call(jwtOf(), '/session/ws-ticket', { body: {} }))

    const socket = await connect(url, { ticket })

    expect((await socket.initialize()).result).toMatchObject({ principal: { subject: 'jwt:app:alice' } })
  })

  it('cannot open a WebSocket with a ticket after its JWT has ended', async () => {
    const { call, url } = await startJwtServer()
    const { ticket } = await json(await call(jwtOf({ exp: nowSeconds() + 2 }), '/session/ws-ticket', { body: {} }))

    await new Promise((resolve) => setTimeout(resolve, 2_100))

    const socket = await connect(url, { ticket })
    expect((await socket.closed).code).toBe(4002)
  })

  it('has one limit on WebSockets, streams and tickets for all of its JWTs', async () => {
    const realtime = { webSocket: { maxConnectionsPerToken: 1 }, maxSseStreamsPerToken: 1, maxTicketsPerToken: 1 }
    const server = await startJwtServer({ config: { realtime } })
    const { call, url } = server
    const { runId = '' } = await startRun(server, jwtOf())
    const stream = (jwt: string) => call(jwt, `/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } })

    const open = await stream(jwtOf())
    expect([open.status, (await stream(jwtOf({ exp: nowSeconds() + 200 }))).status]).toEqual([200, 503])
    expect((await call(jwtOf(), '/session/ws-ticket', { body: {} })).status).toBe(201)
    expect((await call(jwtOf({ exp: nowSeconds() + 200 }), '/session/ws-ticket', { body: {} })).status).toBe(429)
    await connect(url, { headers: { authorization: `Bearer ${jwtOf()}` } })
    const second = {
      protocols: ['svc.protocol.v1'],
      headers: { authorization: `Bearer ${jwtOf({ exp: nowSeconds() + 200 })}` },
    }
    const refused = new WebSocket(`${url.replace('http', 'ws')}/ws`, second as never)
    await once(refused, 'error')
    expect(refused.readyState).not.toBe(WebSocket.OPEN)
    await open.body?.cancel()
  })

  it('is named by the audit', async () => {
    const { server, storage, call } = await startJwtServer()
    const { id } = await server
      .client({ subject: 'owner', scopes: ['admin:*'] })
      .tokens.create({ name: 'ci', scopes: ['agents:read'] })

    await call(rsaJwtOf('tokens:revoke'), `/tokens/${id}`, { method: 'DELETE' })

    const entries = await storage.audit.read({ afterSeq: 0, limit: 50 })
    expect(entries.map(({ action, actor }) => [action, actor.subject])).toContainEqual([
      'tokens.revoke',
      'jwt:rsa:alice',
    ])
  })

  it('cannot create, rotate or lend anything that outlives its JWT', async () => {
    const { call } = await startJwtServer({ config: { console: { enabled: true } } })
    const jwt = rsaJwtOf('tokens:create tokens:read agents:read runs:read:own webhooks:write')
    const webhook = { url: 'https://hook.example/', events: ['run.completed'] }

    for (const [path, body] of [
      ['/tokens', { name: 'mine', scopes: ['agents:read'] }],
      ['/webhooks', { ...webhook, owner: 'jwt:rsa:alice' }],
    ] as const) {
      const response = await call(jwt, path, { body })
      expect([path, response.status, await json(response)]).toMatchObject([
        path,
        403,
        { error: 'scope-escalation-denied' },
      ])
    }
    expect((await call(jwt, '/tokens/self')).status).toBe(404)
    const signIn = await call(jwt, '/console/session', { body: { token: jwt } })
    expect(signIn.status).not.toBe(200)
    expect(signIn.status).not.toBe(201)
  })
})

describe('the revocation of a subject', () => {
  it('refuses its JWTs, tickets, streams and WebSockets at once, and nobody else', async () => {
    const server = await startJwtServer()
    const { call, url } = server
    const { runId = '' } = await startRun(server, jwtOf())
    const stream = await call(jwtOf(), `/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } })
    const socket = await connect(url, { headers: { authorization: `Bearer ${jwtOf()}` } })
    const { ticket } = await json(await call(jwtOf(), '/session/ws-ticket', { body: {} }))

    const response = await revoke(server, 'jwt:app:alice')
    expect([response.status, await json(response)]).toMatchObject([200, { subject: 'jwt:app:alice' }])

    await stream.text()
    expect((await socket.closed).code).toBe(4003)
    expect(await json(await call(jwtOf(), '/runs'))).toMatchObject({ error: 'auth-revoked' })
    const late = await connect(url, { ticket })
    expect((await late.closed).code).toBe(4003)
    expect((await call(jwtOf({ sub: 'bob' }), '/runs')).status).toBe(200)
  })

  it('keeps JWTs that were issued later than the given time', async () => {
    const server = await startJwtServer()
    const issuedUntil = new Date(Date.now() - 60_000).toISOString()

    await revoke(server, 'jwt:app:alice', { issuedUntil })

    expect((await server.call(jwtOf({ iat: nowSeconds() - 90 }), '/runs')).status).toBe(401)
    expect((await server.call(jwtOf({ iat: nowSeconds() - 30 }), '/runs')).status).toBe(200)
  })

  it('needs tokens:revoke for every token, and is audited', async () => {
    const server = await startJwtServer()

    expect((await revoke(server, 'jwt:app:alice', {}, jwtOf())).status).toBe(403)
    await revoke(server, 'jwt:app:auth0|a/b')

    const entries = await server.storage.audit.read({ afterSeq: 0, limit: 50 })
    expect(entries.at(-1)).toMatchObject({
      action: 'subjects.revoke',
      target: 'jwt:app:auth0|a/b',
      actor: { subject: 'jwt:rsa:ops' },
    })
  })

  it.each([
    ['owner', {}],
    ['jwt:app:alice', { issuedUntil: new Date(Date.now() + 60_000).toISOString() }],
  ])('refuses %s with %j', async (subject, body) => {
    const server = await startJwtServer()

    expect((await revoke(server, subject, body)).status).toBe(400)
  })
})

describe('a stream', () => {
  it('over SSE ends when its JWT ends', async () => {
    const server = await startJwtServer()
    const { runId = '' } = await startRun(server, jwtOf())
    const jwt = jwtOf({ exp: nowSeconds() + 2 })
    const startedAt = performance.now()

    const response = await server.call(jwt, `/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } })
    expect(response.status).toBe(200)
    await response.text()

    expect(performance.now() - startedAt).toBeLessThan(3_000)
    expect((await server.storage.runs.find(runId, EVERY_ROW))?.status).toBe('running')
  })

  it('over a WebSocket ends with 4002 when its JWT ends', async () => {
    const { url } = await startJwtServer()
    const socket = await connect(url, { headers: { authorization: `Bearer ${jwtOf({ exp: nowSeconds() + 2 })}` } })
    await socket.initialize()

    expect((await socket.closed).code).toBe(4002)
  })

  it('over a WebSocket goes on when its JWT is renewed in time', async () => {
    const { url } = await startJwtServer()
    const socket = await connect(url, { headers: { authorization: `Bearer ${jwtOf({ exp: nowSeconds() + 2 })}` } })
    await socket.initialize()

    const renewed = await socket.call('credential.renew', { token: jwtOf({ exp: nowSeconds() + 4 }) })
    expect(renewed.result).toMatchObject({ principal: { subject: 'jwt:app:alice' } })
    await new Promise((resolve) => setTimeout(resolve, 2_200))
    expect((await socket.call('ping')).result).toBeDefined()

    expect((await socket.closed).code).toBe(4002)
  })

  it.each([
    ['of another user', () => jwtOf({ sub: 'bob' }), -32002],
    ['of another issuer', () => rsaJwtOf('agents:read'), -32002],
    ['that has expired', () => jwtOf({ exp: nowSeconds() - 1 }), -32002],
    ['that is malformed', () => 'x', -32002],
  ])('over a WebSocket keeps its JWT when the renewal is one %s', async (_, jwtWith, code) => {
    const { url } = await startJwtServer()
    const socket = await connect(url, { headers: { authorization: `Bearer ${jwtOf()}` } })
    await socket.initialize()

    expect((await socket.call('credential.renew', { token: jwtWith() })).error?.code).toBe(code)
    expect((await socket.call('ping')).result).toBeDefined()
    expect(socket.socket.readyState).toBe(WebSocket.OPEN)
  })

  it('over a WebSocket refuses a renewal with fewer scopes', async () => {
    const { url } = await startJwtServer()
    const socket = await connect(url, { headers: { authorization: `Bearer ${rsaJwtOf('agents:read runs:read:own')}` } })
    await socket.initialize()

    expect((await socket.call('credential.renew', { token: rsaJwtOf('agents:read') })).error?.code).toBe(-32003)
  })
})
