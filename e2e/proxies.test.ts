import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { needsTool } from '../tooling/needed-tool.ts'
import { bearer, createSandbox, createToken, DURABLE_CONFIG, startServer } from './perdure-process.ts'
import { type StartProxy, startBareNginx, startPrintedCaddy, startPrintedNginx } from './proxies.ts'

async function startBehindProxy(startProxy: StartProxy) {
  const sandbox = createSandbox({ PERDURE_SERVER_TRUST_PROXY: '1' })
  const token = await createToken(sandbox)
  const server = await startServer(sandbox, ['server', '--config', DURABLE_CONFIG])
  const proxy = await startProxy(sandbox, server.url)
  const stop = () => {
    for (const { process } of [proxy, server]) process.kill('SIGKILL')
  }
  return { sandbox, token, url: proxy.url, stop }
}

type ProxiedServer = Awaited<ReturnType<typeof startBehindProxy>>

/** Checks that the first event of a run arrives before the run ends, so that no proxy buffers the stream. */
async function expectUnbufferedStream({ sandbox, token, url }: ProxiedServer): Promise<void> {
  const response = await fetch(`${url}/agents/deaf/stream`, {
    method: 'POST',
    headers: { ...bearer(token), accept: 'text/event-stream' },
    body: JSON.stringify({ input: { gate: 'proxy' } }),
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let received = ''
  const readUntil = async (wanted: string) => {
    while (!received.includes(wanted)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) throw new Error(`the stream ended without ${wanted}: ${received}`)
      received += value
    }
  }
  // The run waits at its gate until the first event has arrived.
  await readUntil('event: deaf.begun')
  expect(received).not.toContain('run.completed')
  writeFileSync(join(sandbox.dir, 'gate-proxy'), '')
  await readUntil('event: run.completed')

  expect(response.status).toBe(200)
  await reader?.cancel()
}

needsTool('nginx').describe('a server behind nginx with default settings', () => {
  it('forwards the first event of a run before the run ends', async () => {
    const server = await startBehindProxy(startBareNginx)
    onTestFinished(server.stop)

    await expectUnbufferedStream(server)
  })
})

needsTool('nginx').describe('a server behind nginx as configured by perdure deploy print', () =>
  testProxy(startPrintedNginx),
)
needsTool('caddy').describe('a server behind Caddy as configured by perdure deploy print', () =>
  testProxy(startPrintedCaddy),
)

function testProxy(startProxy: StartProxy): void {
  let server: ProxiedServer
  beforeAll(async () => {
    server = await startBehindProxy(startProxy)
    return server.stop
  })

  it('forwards the first event of a run before the run ends', () => expectUnbufferedStream(server))

  it('accepts WebSocket connections', async () => {
    const { token, url } = server
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, 'svc.protocol.v1', { headers: bearer(token) })
    onTestFinished(() => socket.terminate())
    await once(socket, 'open')
    const ask = async (id: number, method: string, params: unknown) => {
      const answered = once(socket, 'message')
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      const [data] = await answered
      return JSON.parse(String(data))
    }
    await ask(1, 'initialize', {})
    const subscribed = await ask(2, 'subscription.subscribe', { subject: 'agent:echo/events' })
    expect(subscribed).toMatchObject({ id: 2, result: { subject: 'agent:echo/events' } })

    const message = once(socket, 'message')
    await fetch(`${url}/agents/echo/run`, { method: 'POST', headers: bearer(token), body: '{"input":1}' })
    expect(JSON.parse(String((await message)[0]))).toMatchObject({ kind: 'event', subject: 'agent:echo/events' })
  })

  it('records the real address of a client that forges X-Forwarded-For', async () => {
    const { token, url } = server
    const asked = request(`${url}/tokens`, {
      method: 'POST',
      localAddress: '127.0.0.9',
      headers: { ...bearer(token), 'x-forwarded-for': '203.0.113.7' },
    })
    asked.end(JSON.stringify({ name: 'proxied', scopes: ['runs:read'] }))
    const [answer] = await once(asked, 'response')
    answer.resume()
    expect(answer.statusCode).toBe(201)

    const listed = await fetch(`${url}/audit?action=tokens.create`, { headers: bearer(token) })
    expect((await listed.json()) as unknown).toMatchObject({ items: [{ ip: '127.0.0.9' }, {}] })
  })
}
