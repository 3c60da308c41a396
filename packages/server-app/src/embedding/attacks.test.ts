import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import type { PerdureServer } from '../perdure-server.ts'
import { ADMIN, echoRequest, makeServer, startedServer, WITH_TOKENS } from './embedded-server.fixture.ts'
import type { RequestInfo } from './entry.ts'

const HTML = { accept: 'text/html' }
const at = (path: string, init?: RequestInit) => new Request(`http://localhost${path}`, init)

/** A request as an adapter of a framework passes it: the URL is not normalized. */
const unnormalized = (path: string) =>
  Object.defineProperty(at('/', { headers: HTML }), 'url', { value: `http://localhost${path}` })

const bodyOf = (chunks: Iterable<Uint8Array>) => ReadableStream.from(chunks) as ReadableStream<Uint8Array>
const post = (body: ReadableStream<Uint8Array> | string, headers: Record<string, string> = {}) =>
  at('/v1/agents/echo/run', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
    duplex: 'half',
  } as RequestInit)

describe('the paths of passed requests', () => {
  it.each([
    ['//evil.example/v1', at('//evil.example/v1', { headers: HTML })],
    ['/\\evil.example/v1', unnormalized('/\\evil.example/v1')],
    ['/ai//evil.example/v1', at('/ai//evil.example/v1', { headers: HTML })],
  ])('does not redirect %s to another host', async (_, request) => {
    const response = await (await startedServer()).fetch(request)

    expect([response.status, response.headers.get('location')]).toEqual([404, null])
  })

  it.each(['/ai/%76%31/runs', '/ai/v1%2Fruns', '/ai/V1/runs', '/ai/v1/runs/', '/ai/v1x/runs'])(
    'does not read a base path into %s',
    async (path) => {
      expect((await (await startedServer()).fetch(at(path))).status).toBe(404)
    },
  )

  it('finds no route in a long path with many base paths within milliseconds', async () => {
    const server = await startedServer()
    await server.fetch(at('/v1/runs'))
    const startedMs = performance.now()

    const { status } = await server.fetch(at('/v1'.repeat(5_000)))

    expect(status).toBe(404)
    expect(performance.now() - startedMs).toBeLessThan(500)
  })
})

describe('the bodies of passed requests', () => {
  const LIMITED = { config: { server: { bodyLimitBytes: 1_024 } } }

  it.each<Record<string, string>>([{}, { 'content-length': '2' }, { 'content-length': 'x' }])(
    'stops reading a body at the limit, with the headers %j',
    async (headers) => {
      let taken = 0
      const endless = function* () {
        for (; taken < 10_000; taken++) yield new Uint8Array(1_024).fill(0x20)
      }
      const response = await (await startedServer(LIMITED)).fetch(post(bodyOf(endless()), headers))

      expect([response.status, await response.json()]).toMatchObject([413, { error: 'body-too-large' }])
      expect(taken).toBeLessThan(10)
    },
  )

  it('refuses a body that fails half way', async () => {
    const failing = function* () {
      yield new TextEncoder().encode('{"input":')
      throw new Error('cut')
    }
    const response = await (await startedServer()).fetch(post(bodyOf(failing())))

    expect([response.status, await response.json()]).toMatchObject([400, { message: 'the body is incomplete' }])
  })

  it('reports a body that the host has already read', async () => {
    const error = vi.fn()
    const ignore = () => undefined
    const { createInMemoryStorage } = await import('@perdure/in-memory')
    const server = await startedServer({
      adapters: { storage: createInMemoryStorage(), logger: { debug: ignore, info: ignore, warn: ignore, error } },
    })
    const request = post('{"input":1}')
    await request.text()

    const { status } = await server.fetch(request)

    expect(status).toBe(500)
    expect(JSON.stringify(error.mock.calls.map(([, cause]) => String(cause?.cause ?? cause)))).toContain(
      'has already been read',
    )
  })
})

describe('the callers of passed requests', () => {
  it('cannot lock out clients without an address', async () => {
    const server = await startedServer({ config: { auth: { ...WITH_TOKENS, lockout: { blockValid: true } } } })
    const { token } = await server.client(ADMIN).tokens.create({ name: 'a', scopes: ['agents:invoke:echo'] })
    const send = (bearer: string, info?: RequestInfo) =>
      server.fetch(echoRequest('/v1', { authorization: `Bearer ${bearer}` }), info)
    const statuses = async (info?: RequestInfo) => {
      for (let n = 0; n < 30; n++) await send(forged, info)
      return [(await send(forged, info)).status, (await send(token, info)).status]
    }
    const forged = `${token.slice(0, -4)}AAAA`

    expect(await statuses({ clientAddress: '192.0.2.1' })).toEqual([429, 429])
    expect(await statuses()).toEqual([401, 200])
  })

  it.each([
    ['host', { host: 'evil.example' }, 'host-denied'],
    ['origin', { origin: 'https://evil.example' }, 'cors-denied'],
    ['sec-fetch-site', { 'sec-fetch-site': 'cross-site' }, 'csrf-denied'],
  ])('are checked by the header %s without authentication', async (_, headers, error) => {
    const response = await (await startedServer()).fetch(echoRequest('/ai/v1', headers as Record<string, string>))

    expect(await response.json()).toMatchObject({ error })
  })

  it('share the keys of their subject, over HTTP and inside the process', async () => {
    const server = await startedServer({ config: { auth: WITH_TOKENS } })
    const { token } = await server
      .client(ADMIN)
      .tokens.create({ name: 'a', subject: 'alice', scopes: ['agents:invoke:echo'] })
    const alice = server.client({ subject: 'alice', scopes: ['agents:invoke:echo'] })

    const { runId } = await alice.agents.run('echo', { input: 'hi' }, { idempotencyKey: 'k' })
    const again = await server.fetch(
      echoRequest('/ai/v1', { authorization: `Bearer ${token}`, 'idempotency-key': 'k' }),
    )

    expect(await again.json()).toMatchObject({ runId })
  })

  it.each([
    [{ subject: 7, scopes: [] }, 'subject must have 1 to 128 visible ASCII characters'],
    [{ subject: 'a\nb', scopes: [] }, 'subject must have 1 to 128 visible ASCII characters'],
    [{ subject: 'a'.repeat(129), scopes: [] }, 'subject must have 1 to 128 visible ASCII characters'],
    [{ subject: 'a', scopes: ['*:*'] }, 'scopes: *:* is not a scope'],
    [{ subject: 'a', scopes: ['agent:invoke'] }, 'scopes: agent:invoke is not a scope'],
    [{ subject: 'a' }, 'scopes must be a list'],
  ])('inside the process are refused as %j', async (caller, message) => {
    const server = await makeServer()
    expect(() => server.client(caller as never)).toThrow(message)
  })
})

describe('the streams of passed requests', () => {
  const ONE_STREAM = { config: { realtime: { maxSseStreams: 1 } } }
  const start = async (server: PerdureServer) => (await server.client(ADMIN).agents.start('slow', { input: 1 })).runId
  const follow = (server: PerdureServer, runId: string, signal?: AbortSignal) =>
    server.fetch(at(`/v1/runs/${runId}/events`, { headers: { accept: 'text/event-stream' }, signal: signal ?? null }))

  it('free their slot when the host cancels the body', async () => {
    const server = await startedServer(ONE_STREAM)
    const runId = await start(server)
    const first = await follow(server, runId)
    expect((await follow(server, runId)).status).toBe(503)

    await first.body?.cancel()

    expect((await follow(server, runId)).status).toBe(200)
  })

  it('free their slot when the signal of the request aborts', async () => {
    const server = await startedServer(ONE_STREAM)
    const runId = await start(server)
    const left = new AbortController()
    const first = await follow(server, runId, left.signal)
    left.abort()
    await expect.poll(async () => (await follow(server, runId)).status).toBe(200)
    await expect(first.text()).rejects.toThrow()
  })

  it('take no slot if the client has disconnected before the answer', async () => {
    const server = await startedServer(ONE_STREAM)
    const runId = await start(server)
    await follow(server, runId, AbortSignal.abort())

    await expect.poll(async () => (await follow(server, runId)).status).toBe(200)
  })

  it('end with their subscription inside the process', async () => {
    const server = await startedServer(ONE_STREAM)
    const client = server.client(ADMIN)
    const { runId, subject } = await client.agents.start('slow', { input: 1 })
    for await (const item of client.subscribe(subject)) {
      if (item.type === 'event') break
    }

    await expect.poll(async () => (await follow(server, runId)).status).toBe(200)
  })

  it('end inside the process when the server stops before their run ends', async () => {
    const server = await startedServer({
      agents: [
        {
          id: 'wait',
          description: 'Waits an hour.',
          onCrash: 'retry',
          agent: { id: 'wait', run: (_, ctx) => ctx.sleep('hour', 3_600_000) },
        },
      ],
    })
    const client = server.client(ADMIN)
    const { subject } = await client.agents.start('wait', { input: 1 })
    const types: string[] = []
    const following = (async () => {
      for await (const item of client.subscribe(subject)) types.push(item.type)
    })()
    await expect.poll(() => types.length).toBeGreaterThan(0)

    await server.stop({ force: true })

    await expect(following).resolves.toBeUndefined()
    await expect(client.runs.list()).rejects.toMatchObject({ code: 'server-draining' })
  }, 30_000)

  it('start no run for a call that is already aborted', async () => {
    const server = await startedServer()
    const client = server.client(ADMIN)

    await expect(
      client.agents.run('echo', { input: 1 }, { signal: AbortSignal.abort(new Error('left')) }),
    ).rejects.toThrow('left')

    expect((await client.runs.list()).items).toEqual([])
  })
})

describe('passed requests without a reader', () => {
  it('do not leak memory if 10,000 answers are never read', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const server = await startedServer()
    const requests = async (count: number) => {
      for (let n = 0; n < count; n++) await server.fetch(at('/ai/v1/agents'))
      collect()
      return process.memoryUsage().heapUsed
    }
    const before = await requests(1_000)

    expect((await requests(10_000)) - before).toBeLessThan(10_000_000)
  })
})

describe('the audit', () => {
  it('names the subject and the route of a call inside the process', async () => {
    const server = await startedServer({ config: { auth: WITH_TOKENS } })
    await server
      .client({ subject: 'operator', scopes: ['admin:*'] })
      .tokens.create({ name: 'a', scopes: ['runs:read'] })

    const { items } = await server.client(ADMIN).audit.list()

    expect(items).toContainEqual(expect.objectContaining({ actor: expect.objectContaining({ subject: 'operator' }) }))
  })
})

describe('a server that is started twice', () => {
  it('refuses a second start that asks for a port', async () => {
    const server = await startedServer()

    await expect(server.start()).rejects.toThrow('the server has been started with listen: false')
    expect(await server.start({ listen: false })).toEqual({ basePath: '/v1' })
  })
})
