import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { CLOSE, dial, expectRefusal, HOST, open, parse, send } from './listener.fixture.ts'
import type { OnUpgrade } from './upgrades.ts'

const overloaded: [number, string] = [503, 'overloaded']
const REQUEST = ['GET / HTTP/1.1', HOST, CLOSE]

/** Opens a connection and waits until the server has counted it. */
async function hold(listener: Awaited<ReturnType<typeof open>>): Promise<Socket> {
  const { socket, soFar } = dial(listener)
  socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n\r\n`)
  await expect.poll(soFar).toContain('200 OK')
  return socket
}

describe('the connection limit', () => {
  it.each(['maxConnections', 'maxConnectionsPerAddress'])(
    'refuses a connection beyond %s with 503, keeps the others and accepts again after one closes',
    async (limit) => {
      const listener = await open(undefined, { [limit]: 2 })
      const held = [await hold(listener), await hold(listener)]

      const { socket, received } = dial(listener)
      const refused = parse(await received)
      const refusedWithRequest = await send(listener, REQUEST)

      expectRefusal(refused, overloaded)
      expect(refused.headers.get('retry-after')).toBe('1')
      expectRefusal(refusedWithRequest, overloaded)
      expect(socket.bytesWritten).toBe(0)
      for (const kept of held) {
        kept.write(`GET / HTTP/1.1\r\n${HOST}\r\n\r\n`)
        expect(String((await once(kept, 'data'))[0])).toContain('200 OK')
      }
      for (const closing of held) {
        closing.destroy()
        await expect.poll(async () => (await send(listener, REQUEST)).status).toBe(200)
      }
      await expect.poll(() => hold(listener).then(() => hold(listener))).toBeDefined()
    },
  )

  it('gives the answer to a client that sends a large request to a full server', async () => {
    const listener = await open(undefined, { maxConnections: 1 })
    await hold(listener)

    const body = 'x'.repeat(1_048_576)
    const refused = await send(listener, ['POST / HTTP/1.1', HOST, `Content-Length: ${body.length}`], body)

    expectRefusal(refused, overloaded)
  })

  it.each([[1], [['127.0.0.0/8']], [['::ffff:127.0.0.1', '127.0.0.1']]])(
    'applies no limit per address to the proxies in trustProxy %j',
    async (trustProxy) => {
      const listener = await open(undefined, { maxConnectionsPerAddress: 1, trustProxy })
      await hold(listener)
      await hold(listener)

      expect((await send(listener, REQUEST)).status).toBe(200)
    },
  )

  it('applies the limit per address to an address outside trustProxy', async () => {
    const listener = await open(undefined, { maxConnectionsPerAddress: 1, trustProxy: ['10.0.0.0/8'] })
    await hold(listener)

    expectRefusal(await send(listener, REQUEST), overloaded)
  })

  it('counts an upgraded connection until it closes', async () => {
    const upgraded: OnUpgrade = (_, socket: Duplex) => {
      socket.on('end', () => socket.end()).resume()
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    }
    const listener = await open(undefined, { maxConnections: 1 }, upgraded)
    const { socket, soFar } = dial(listener)
    socket.write(['GET /ws HTTP/1.1', HOST, 'Connection: Upgrade', 'Upgrade: websocket', '', ''].join('\r\n'))
    await expect.poll(soFar).toContain('101')

    expectRefusal(await send(listener, REQUEST), overloaded)
    socket.destroy()
    await expect.poll(async () => (await send(listener, REQUEST)).status).toBe(200)
  })

  it('counts an event stream until its client disconnects', async () => {
    const headers = { 'Content-Type': 'text/event-stream' }
    const listener = await open(
      async ({ url }) => new Response(url.endsWith('/events') ? new ReadableStream() : 'done', { headers }),
      { maxConnections: 1 },
    )
    const { socket, soFar } = dial(listener)
    socket.write(`GET /events HTTP/1.1\r\n${HOST}\r\n\r\n`)
    await expect.poll(soFar).toContain('200 OK')

    expectRefusal(await send(listener, REQUEST), overloaded)
    socket.destroy()
    await expect.poll(async () => (await send(listener, REQUEST)).status).toBe(200)
  })

  it('is not used up by refused connections that stay open', async () => {
    const listener = await open(undefined, { maxConnections: 1 })
    const held = await hold(listener)
    const refused = Array.from({ length: 100 }, () => dial(listener))

    for (const { received } of refused) expect(await received).toMatch(/^(HTTP\/1\.1 503 |$)/)
    held.destroy()

    await expect.poll(async () => (await send(listener, REQUEST)).status).toBe(200)
  })
})
