import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SUBPROTOCOL } from '@perdure/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { PerdureServer } from '../perdure-server.ts'
import { ADMIN, echoRequest, makeServer, startedServer, WITH_TOKENS } from './embedded-server.fixture.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

describe('a server that does not listen', () => {
  it('opens no port and returns only the base path', async () => {
    expect(await (await makeServer()).start({ listen: false })).toEqual({ basePath: '/v1' })
  })

  it.each(['/v1', '/ai/v1', '/a/b/v1'])('answers requests below %s, with that path in the location', async (path) => {
    const server = await startedServer()

    const answered = await server.fetch(echoRequest(path))
    const accepted = await server.fetch(echoRequest(path, { prefer: 'respond-async' }))

    expect([answered.status, await answered.json()]).toMatchObject([200, { status: 'completed', result: 'hi' }])
    expect(accepted.headers.get('location')).toMatch(new RegExp(`^${path}/runs/run_`))
    expect((await server.fetch(new Request(`http://localhost${accepted.headers.get('location')}`))).status).toBe(200)
  })

  it('streams the events of a run', async () => {
    const server = await startedServer()

    const { runId } = await server.client(ADMIN).agents.run('echo', { input: 1 })
    const response = await server.fetch(
      new Request(`http://localhost/ai/v1/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } }),
    )
    const text = await response.text()

    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(text).toContain('event: run.completed')
  })

  it('waits for a start in progress, and answers 503 before the start and after the stop', async () => {
    const server = await makeServer()
    const early = await server.fetch(echoRequest('/v1'))
    const starting = server.start({ listen: false })
    const during = await server.fetch(echoRequest('/v1'))
    await starting
    await server.stop()
    const late = await server.fetch(echoRequest('/v1'))

    expect([early.status, during.status, late.status]).toEqual([503, 200, 503])
    expect(await early.json()).toMatchObject({
      error: 'server-draining',
      message: 'the server has not been started',
      hint: 'call start({ listen: false }) before the first request',
      requestId: early.headers.get('x-request-id'),
    })
    expect(early.headers.get('retry-after')).toBe('1')
  })

  it('answers 503 when the start has failed', async () => {
    const server = await makeServer({ hooks: { beforeStart: () => Promise.reject(new Error('no')) } })
    await expect(server.start({ listen: false })).rejects.toThrow()

    expect((await server.fetch(echoRequest('/v1'))).status).toBe(503)
  })

  it('answers the requests in progress before it stops', async () => {
    const server = await startedServer()
    const held = server.fetch(
      new Request('http://localhost/v1/agents/slow/run', {
        method: 'POST',
        body: '{"input":1}',
        headers: { 'content-type': 'application/json' },
      }),
    )
    await expect.poll(async () => (await server.client(ADMIN).runs.list()).items.length).toBe(1)

    await server.stop({ force: true })

    expect(await (await held).json()).toMatchObject({ status: 'aborted', finishReason: 'shutdown' })
  })

  it('applies the limit per address only to requests that name their client', async () => {
    const server = await startedServer({ config: { server: { rateLimit: { perIpRequests: 2 } } } })
    const send = (info?: { readonly clientAddress: string }) => server.fetch(echoRequest('/v1'), info)
    const statuses = async (info?: { readonly clientAddress: string }) =>
      [await send(info), await send(info), await send(info)].map(({ status }) => status)

    expect(await statuses()).toEqual([200, 200, 200])
    expect(await statuses({ clientAddress: '192.0.2.1' })).toEqual([200, 200, 429])
    expect(await statuses({ clientAddress: '192.0.2.2' })).toEqual([200, 200, 429])
  })

  it('takes over the upgrades of another server, under any mount path', async () => {
    const server = await startedServer()
    const port = await hostOf(server)
    const opened = new WebSocket(`ws://127.0.0.1:${port}/ai/v1/ws`, SUBPROTOCOL)
    await once(opened, 'open')
    const refused = new WebSocket(`ws://127.0.0.1:${port}/ai/v1/runs`, SUBPROTOCOL)
    const [error] = await once(refused, 'error')

    expect(opened.protocol).toBe(SUBPROTOCOL)
    expect(error.message).toBe('Unexpected server response: 400')
    opened.close()
  })

  it('refuses upgrades before the start with 503', async () => {
    const port = await hostOf(await makeServer())
    const [error] = await once(new WebSocket(`ws://127.0.0.1:${port}/v1/ws`, SUBPROTOCOL), 'error')

    expect(error.message).toBe('Unexpected server response: 503')
  })
})

async function hostOf(server: PerdureServer): Promise<number> {
  const host = createHttpServer().on('upgrade', server.upgrade).listen(0, '127.0.0.1')
  closing.push(() => host.close())
  await once(host, 'listening')
  return (host.address() as AddressInfo).port
}

describe('the client inside the process', () => {
  it('runs agents and follows runs without a token', async () => {
    const client = (await startedServer({ config: { auth: WITH_TOKENS } })).client(ADMIN)

    const { runId, result } = await client.agents.run('echo', { input: 'hi' })
    const types: string[] = []
    for await (const item of client.subscribe(`agent:echo/runs/${runId}/events`)) {
      if (item.type !== 'gap') types.push(item.event.type)
    }

    expect(result).toBe('hi')
    expect(types.at(-1)).toBe('run.completed')
  })

  it('acts as its subject, with its scopes only', async () => {
    const server = await startedServer({ config: { auth: WITH_TOKENS } })
    const alice = server.client({ subject: 'alice', scopes: ['agents:invoke:echo', 'runs:read:own'] })

    const { runId } = await alice.agents.run('echo', { input: 1 })

    await expect(alice.tokens.list()).rejects.toMatchObject({ code: 'scope-denied', status: 403 })
    expect(await server.client(ADMIN).runs.get(runId)).toMatchObject({ owner: 'alice' })
    const bob = server.client({ subject: 'bob', scopes: ['runs:read:own'] })
    await expect(bob.runs.get(runId)).rejects.toMatchObject({ code: 'run-not-found' })
  })

  it('does a keyed call once', async () => {
    const client = (await startedServer()).client(ADMIN)
    const call = () => client.agents.run('echo', { input: 1 }, { idempotencyKey: 'k' })

    expect((await call()).runId).toBe((await call()).runId)
  })

  it('rejects with the reason of the signal that ends a call', async () => {
    const client = (await startedServer()).client(ADMIN)
    const left = new AbortController()
    const calling = client.agents.run('slow', { input: 1 }, { signal: left.signal })
    await expect.poll(async () => (await client.runs.list({ status: 'running' })).items.length).toBe(1)

    left.abort(new Error('enough'))

    await expect(calling).rejects.toThrow('enough')
  })

  it.each([
    [{ subject: '', scopes: [] }, 'subject must have 1 to 128 visible ASCII characters'],
    [{ subject: 'a', scopes: ['everything'] }, 'scopes: everything is not a scope'],
  ])('refuses the caller %j', async (caller, message) => {
    const server = await makeServer()
    expect(() => void server.client(caller)).toThrow(message)
  })
})
