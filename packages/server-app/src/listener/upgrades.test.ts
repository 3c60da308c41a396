import { request as httpRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { ERRORS, type ErrorCode, realtimeOperations, type ServerConfigInput } from '@perdure/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import { connect } from '../scenarios/web-socket-client.fixture.ts'
import { openTokenAdmin } from '../start/token-admin.ts'
import { askForUpgrade, type UpgradeAnswer } from './upgrade.fixture.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
process.env.TEST_PEPPER = 'x'.repeat(32)

const agents = [
  {
    id: 'echo',
    description: 'Answers its input.',
    agent: { id: 'echo', run: async (input: unknown) => input },
  },
  { id: 'hold', description: 'Never ends.', agent: { id: 'hold', run: () => new Promise<never>(() => {}) } },
]

const open: PerdureServer[] = []
const sockets: Duplex[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of open.splice(0)) await server.stop({ force: true })
})

async function start(over: ServerConfigInput = {}) {
  const storage = createInMemoryStorage()
  const config: ServerConfigInput = {
    auth: { pepperRef: 'env:TEST_PEPPER' },
    ...over,
    server: { port: 0, ...over.server },
  }
  const server = await createServer({ config, agents, adapters: { storage, logger } })
  open.push(server)
  const { host, port, basePath } = await server.start()
  const openAdmin = () => openTokenAdmin(parseConfig(config), { adapters: { logger, storage } })
  const mint = async (...scopes: readonly string[]) => (await openAdmin()).mint({ name: 'test', scopes })
  const revoke = async (id: string) => (await openAdmin()).revoke(id)
  return { server, mint, revoke, url: `http://${host}:${port}${basePath}` }
}

const upgrade: typeof askForUpgrade = async (url, headers) => {
  const answer = await askForUpgrade(url, headers)
  if (answer.socket !== undefined) sockets.push(answer.socket)
  return answer
}

const refusal = ({ status, body }: UpgradeAnswer) => ({
  status,
  error: (JSON.parse(body) as { readonly error: string }).error,
})
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const ticketOf = async (url: string, token: string, origin?: string) => {
  const headers = { ...bearer(token), ...(origin === undefined ? {} : { origin }) }
  const response = await fetch(`${url}/session/ws-ticket`, { method: 'POST', headers })
  return (await response.json()) as { readonly ticket: string; readonly ttlMs: number }
}

/** Provokes each error with which an upgrade can be refused. */
const REFUSALS: Partial<Record<ErrorCode, () => Promise<UpgradeAnswer>>> = {
  'validation-failed': async () => upgrade((await start()).url, { 'sec-websocket-protocol': 'other' }),
  'cors-denied': async () => upgrade((await start()).url, { origin: 'https://evil.example' }),
  'host-denied': async () => upgrade((await start({ auth: { kind: 'none' } })).url, { host: 'evil.example' }),
  async 'rate-limit-exceeded'() {
    const { url } = await start({ server: { rateLimit: { perIpRequests: 1 } } })
    await upgrade(url)
    return upgrade(url)
  },
  async overloaded() {
    const { url, mint } = await start({ realtime: { webSocket: { maxConnections: 1 } } })
    const { token } = await mint('agents:read')
    await upgrade(url, bearer(token))
    return upgrade(url, bearer(token))
  },
  async 'server-draining'() {
    const { server, url, mint } = await start()
    const { token } = await mint('agents:read', 'agents:invoke')
    const headers = { ...bearer(token), 'content-type': 'application/json' }
    await fetch(`${url}/agents/hold/stream`, { method: 'POST', headers, body: '{}' })
    const stopping = server.stop()
    const answer = await upgrade(url, bearer(token))
    await server.stop({ force: true })
    await stopping
    return answer
  },
}

/** A token without the scope gets a socket that is closed with the code of the error. */
const declared = realtimeOperations.openWebSocket.errors.filter((code) => code !== 'scope-denied')

describe('an upgrade', () => {
  it.each([...declared, 'host-denied', 'rate-limit-exceeded'] as ErrorCode[])(
    'is refused over HTTP with %s',
    async (code) => {
      const answer = await REFUSALS[code]?.()

      expect(refusal(answer as UpgradeAnswer)).toEqual({ status: ERRORS[code].status, error: code })
      expect(answer?.headers['x-request-id']).toMatch(/./)
      expect(answer?.headers.connection).toBe('close')
      expect(answer?.headers).toMatchObject({
        ratelimit: expect.stringMatching(/r=\d/),
        'ratelimit-policy': expect.stringMatching(/q=\d/),
      })
      expect(answer?.headers['retry-after'] !== undefined).toBe(
        ERRORS[code].status === 503 || ERRORS[code].status === 429,
      )
    },
  )

  it.each<[string, Readonly<Record<string, string | undefined>>]>([
    ['no subprotocol', { 'sec-websocket-protocol': undefined }],
    ['a ticket as its only subprotocol', { 'sec-websocket-protocol': 'ticket.abc' }],
    ['a duplicate subprotocol', { 'sec-websocket-protocol': 'svc.protocol.v1, svc.protocol.v1' }],
    ['no key', { 'sec-websocket-key': undefined }],
    ['a malformed key', { 'sec-websocket-key': 'short' }],
    ['an unsupported version', { 'sec-websocket-version': '8' }],
  ])('is refused with validation-failed if it has %s', async (_, headers) => {
    const { url } = await start()

    expect(refusal(await upgrade(url, headers))).toEqual({ status: 400, error: 'validation-failed' })
  })

  it('is refused for a page of another site when auth.kind is none, even without an Origin header', async () => {
    const { url } = await start({ auth: { kind: 'none' } })

    for (const site of ['cross-site', 'same-site']) {
      expect(refusal(await upgrade(url, { 'sec-fetch-site': site }))).toEqual({ status: 403, error: 'cors-denied' })
    }
    expect((await upgrade(url, { 'sec-fetch-site': 'same-origin' })).status).toBe(101)
  })

  it('is refused on any other path', async () => {
    const { url } = await start()

    expect(refusal(await upgrade(`${url}/nothing`))).toEqual({ status: 404, error: 'route-not-found' })
    expect(refusal(await upgrade(url.replace('/v1', '/v1/agents?x=')))).toMatchObject({ status: 400 })
  })

  it('is ignored for a protocol other than websocket', async () => {
    const { url } = await start()

    const health = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { connection: 'Upgrade', upgrade: 'h2c' }
      const request = httpRequest(`${url}/health/live`, { headers }, (response) => resolve(response.statusCode))
      request.on('error', reject).end()
    })
    expect(health).toBe(200)
  })

  it("is accepted from a listed origin and from the server's own, and the answer does not echo the ticket", async () => {
    const { url, mint } = await start({ server: { cors: { allowOrigins: ['https://app.example.com'] } } })
    const { token } = await mint('agents:read')
    const { ticket } = await ticketOf(url, token)

    const listed = await upgrade(url, {
      ...{ origin: 'https://app.example.com', 'sec-websocket-protocol': `svc.protocol.v1, ticket.${ticket}` },
    })
    const own = await upgrade(url, { ...bearer(token), origin: new URL(url).origin })

    expect([listed.status, own.status]).toEqual([101, 101])
    expect(listed.headers['sec-websocket-protocol']).toBe('svc.protocol.v1')
    expect(listed.headers['sec-websocket-extensions']).toBeUndefined()
  })

  it('is refused for a foreign origin when auth.kind is none, even with allowOrigins *', async () => {
    const { url } = await start({ auth: { kind: 'none' }, server: { cors: { allowOrigins: ['*'] } } })

    expect(refusal(await upgrade(url, { origin: 'https://evil.example' }))).toEqual({
      status: 403,
      error: 'cors-denied',
    })
    expect((await upgrade(url)).status).toBe(101)
  })

  it('is refused beyond maxConnectionsPerToken, until a connection of the token closes', async () => {
    const { url, mint } = await start({ realtime: { webSocket: { maxConnectionsPerToken: 2 } } })
    const { token } = await mint('agents:read')
    const other = await mint('agents:read')
    const first = await upgrade(url, bearer(token))
    await upgrade(url, bearer(token))

    expect(refusal(await upgrade(url, bearer(token)))).toEqual({ status: 503, error: 'overloaded' })
    expect((await upgrade(url, bearer(other.token))).status).toBe(101)
    first.socket?.destroy()
    await expect.poll(async () => (await upgrade(url, bearer(token))).status).toBe(101)
  })
})

describe('WebSocket authentication', () => {
  const closeOf = async (url: string, ticket?: string) =>
    (await connect(url, ticket === undefined ? {} : { ticket })).closed

  it('closes with 4002 for the cookie of a console session, sent as a bearer token or as a ticket', async () => {
    const { url, mint } = await start({ console: { enabled: true } })
    const { token } = await mint('agents:read')
    const headers = { 'content-type': 'application/json' }
    const signedIn = await fetch(`${url}/console/session`, { method: 'POST', headers, body: JSON.stringify({ token }) })
    const cookie = /=([^;]+)/.exec(signedIn.headers.getSetCookie()[0] ?? '')?.[1] ?? ''

    expect(cookie).toMatch(/^perdure_/)
    expect(await closeOf(url, cookie)).toEqual({ code: 4002, reason: 'auth.invalid' })
    const { closed } = await connect(url, { headers: bearer(cookie) })
    expect(await closed).toEqual({ code: 4002, reason: 'auth.invalid' })
    const valid = await connect(url, { headers: bearer(token) })
    await valid.initialize()
    valid.socket.close()
  })

  it('closes with 4001 without a credential', async () => {
    expect(await closeOf((await start()).url)).toEqual({ code: 4001, reason: 'auth.required' })
  })

  it('closes with 4002 for a ticket that is unknown, used or bound to another origin', async () => {
    const { url, mint } = await start()
    const { token } = await mint('agents:read')
    const { ticket } = await ticketOf(url, token)
    const { ticket: elsewhere } = await ticketOf(url, token, new URL(url).origin)
    const client = await connect(url, { ticket })
    await client.initialize()

    for (const bad of ['x'.repeat(43), ticket, elsewhere]) {
      expect(await closeOf(url, bad)).toEqual({ code: 4002, reason: 'auth.invalid' })
    }
    client.socket.close()
  })

  it('locks out an address that guesses tickets, but still accepts a valid token from that address', async () => {
    const { url, mint } = await start()
    const { token } = await mint('agents:read')
    const guess = (n: number) => upgrade(url, { 'sec-websocket-protocol': `svc.protocol.v1, ticket.guess-${n}` })

    const statuses = []
    for (let n = 0; n < 11; n++) statuses.push((await guess(n)).status)

    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 101), ERRORS['auth-locked-out'].status])
    expect((await upgrade(url, { authorization: `Bearer ${token}` })).status).toBe(101)
  })

  it('closes with 4003 for a ticket whose token was revoked', async () => {
    const { url, mint, revoke } = await start()
    const { token, record } = await mint('agents:read')
    const { ticket } = await ticketOf(url, token)
    await revoke(record.id)

    expect(await closeOf(url, ticket)).toEqual({ code: 4003, reason: 'auth.revoked' })
  })

  it('closes with 4004 when no scope allows a subscription', async () => {
    const { url, mint } = await start()
    const { token } = await mint('agents:invoke', 'tokens:read')
    const { ticket } = await ticketOf(url, token)

    expect(await closeOf(url, ticket)).toEqual({ code: 4004, reason: 'auth.scope_denied' })
  })

  it('closes an open connection with 4003, and ends open event streams, when the token is revoked', async () => {
    const { url, mint, revoke } = await start()
    const { token, record } = await mint('agents:read', 'agents:invoke', 'sessions:read', 'sessions:write')
    const headers = { ...bearer(token), 'content-type': 'application/json' }
    await fetch(`${url}/agents/echo/run`, { method: 'POST', headers, body: '{"sessionId":"chat"}' })
    const stream = await fetch(`${url}/sessions/chat/events`, { headers })
    const client = await connect(url, { ticket: (await ticketOf(url, token)).ticket })
    await client.initialize()

    await revoke(record.id)

    expect(await client.closed).toEqual({ code: 4003, reason: 'auth.revoked' })
    expect(await stream.text()).toContain('retry: 1000')
  })
})

describe('POST /session/ws-ticket', () => {
  it('returns the same ticket for a repeated idempotency key', async () => {
    const { url, mint } = await start()
    const { token } = await mint('agents:read')
    const headers = { ...bearer(token), 'idempotency-key': 'k' }
    const ask = async () => (await fetch(`${url}/session/ws-ticket`, { method: 'POST', headers })).json()

    expect(await ask()).toEqual(await ask())
  })

  it('issues tickets to any principal, up to maxTicketsPerToken', async () => {
    const { url, mint } = await start({ realtime: { maxTicketsPerToken: 2 } })
    const { token } = await mint('secrets:read')
    const ask = () => fetch(`${url}/session/ws-ticket`, { method: 'POST', headers: bearer(token) })

    const [first, , third] = [await ask(), await ask(), await ask()]

    expect(first.status).toBe(201)
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(await first.json()).toEqual({
      ticket: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expiresAt: expect.stringMatching(/Z$/),
      ttlMs: 30_000,
    })
    expect(third.status).toBe(429)
    expect(third.headers.get('retry-after')).toBe('30')
  })
})
