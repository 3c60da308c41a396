import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import type { ServerConfigInput } from '@perdure/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'
import { decodeFrames, encodeFrame, textFrame } from './raw-frames.fixture.ts'
import { connect, type Frame } from './web-socket-client.fixture.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const agents = [
  {
    id: 'flood',
    description: 'Emits more than all network buffers hold.',
    agent: {
      id: 'flood',
      async run(_: unknown, { emit }: RunContext) {
        for (let n = 0; n < 120; n++) await emit('text.delta', { delta: 'x'.repeat(250_000) })
      },
    },
  },
]

const open: PerdureServer[] = []
const sockets: Duplex[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of open.splice(0)) await server.stop({ force: true })
})

async function start(realtime: ServerConfigInput['realtime'] = {}) {
  const config = { auth: { kind: 'none' }, server: { port: 0 }, realtime } as const
  const server = await createServer({ config, agents, adapters: { storage: createInMemoryStorage(), logger } })
  open.push(server)
  const { host, port, basePath } = await server.start()
  const url = `http://${host}:${port}${basePath}`
  const metric = async (series: string) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    )
  }
  return { server, url, metric }
}

/** Opens a WebSocket on a raw socket, which does not answer pings. */
async function openRaw(url: string): Promise<Duplex> {
  const headers = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    ...{ 'sec-websocket-key': randomBytes(16).toString('base64'), 'sec-websocket-protocol': 'svc.protocol.v1' },
  }
  const request = httpRequest(`${url}/ws`, { headers }).end()
  const [, socket] = (await once(request, 'upgrade')) as [IncomingMessage, Duplex]
  sockets.push(socket)
  socket.on('error', ignore)
  return socket
}

const send = (socket: Duplex, id: number, method: string, params: object) =>
  socket.write(encodeFrame(textFrame(JSON.stringify({ jsonrpc: '2.0', id, method, params }))))

const startFlood = async (url: string) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/agents/flood/stream`, { method: 'POST', body: '{}', headers })
  return (await response.json()) as { readonly runId: string; readonly subject: string }
}

describe('an open WebSocket', () => {
  it('is closed with 4007 and a reconnect delay when the server stops', async () => {
    const { server, url } = await start()
    const client = await connect(url)
    await client.initialize()

    await server.stop()

    expect(await client.closed).toEqual({ code: 4007, reason: 'server.shutdown' })
    const last = client.frames.at(-1) as Frame
    expect(last).toMatchObject({ kind: 'error', code: 'server.shutdown' })
    const { retryAfterMs } = last.data as { readonly retryAfterMs: number }
    expect(retryAfterMs).toBeGreaterThanOrEqual(0)
    expect(retryAfterMs).toBeLessThanOrEqual(5_000)
  })

  it('is closed with 1009 for a message that is too long', async () => {
    const { url } = await start()
    const client = await connect(url)
    await client.initialize()

    client.socket.send('x'.repeat(65_537))

    expect((await client.closed).code).toBe(1009)
  })

  it('is closed with 4005 for too many messages and 4008 for invalid ones', async () => {
    const { url } = await start()
    const [flooding, babbling, binary] = [await connect(url), await connect(url), await connect(url)]

    for (let sent = 0; sent < 101; sent++) flooding.socket.send('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    for (let sent = 0; sent < 3; sent++) babbling.socket.send('nonsense')
    binary.socket.send(new Uint8Array([1]))

    expect(await flooding.closed).toEqual({ code: 4005, reason: 'rate.limited' })
    expect(await babbling.closed).toEqual({ code: 4008, reason: 'protocol.violation' })
    expect(await binary.closed).toEqual({ code: 4008, reason: 'protocol.violation' })
  })

  it('is closed with 4006 when its client reads nothing, and receives the close frame when it reads again', async () => {
    const { url, metric } = await start({ stallMs: 2_500 })
    const socket = await openRaw(url)
    const { subject } = await startFlood(url)
    socket.pause()
    send(socket, 1, 'initialize', {})
    send(socket, 2, 'subscription.subscribe', { subject })
    const subscriptions = () => metric('svc_subscriptions{transport="websocket"}')
    await expect.poll(subscriptions).toBe(1)
    await expect.poll(subscriptions).toBe(0)

    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.resume()

    const closing = () => decodeFrames(Buffer.concat(chunks)).find(({ opcode }) => opcode === 8)
    await expect.poll(() => closing()?.body.readUInt16BE(0)).toBe(4006)
    await expect.poll(() => metric('svc_ws_connections')).toBe(1)
    socket.destroy()
    await expect.poll(() => metric('svc_ws_connections')).toBe(0)
  })

  it('is terminated when its client does not answer pings', async () => {
    const { url } = await start({ webSocket: { heartbeatMs: 100 } })
    const [silent, answering] = [await openRaw(url), await connect(url)]
    await answering.initialize()
    silent.resume()

    await once(silent, 'close')

    expect((await answering.call('ping')).result).toBeDefined()
    answering.socket.close()
  })
})

describe('an open event stream', () => {
  it('is disconnected when its client reads nothing', async () => {
    const { url, metric } = await start({ stallMs: 2_500 })
    const { runId } = await startFlood(url)
    const request = httpRequest(`${url}/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    sockets.push(response.socket)
    response.on('error', ignore)
    response.pause()
    await expect.poll(() => metric('svc_subscriptions{transport="sse"}')).toBe(1)

    await expect.poll(() => metric('svc_subscriptions{transport="sse"}')).toBe(0)

    const closed = new Promise((resolve) => response.once('close', resolve))
    response.resume()
    await closed
    expect(response.complete).toBe(false)
  })
})
