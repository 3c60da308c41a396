import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAuthorizeSubject, createEventFeed, createEventHub, createRenderEnvelope } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { noMeter, perdureError } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createConnectionLimits } from './connection-limits.ts'
import { LIMITS } from './connections.fixture.ts'
import { createWebSockets, type WebSocketsDeps } from './web-sockets.ts'

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

const ignore = () => undefined

/** A server whose clients all use the same token. */
async function start(over: Partial<WebSocketsDeps> = {}) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const hub = createEventHub()
  const watching = new Set<(loss: 'revoked') => void>()
  const webSockets = createWebSockets({
    ...{ clock, timers: clock, limits: LIMITS, stallMs: 10_000, version: '0.0.0', basePath: '/v1' },
    ...{ runs: storage.runs, events: storage.events, isReady: () => true },
    connectionLimits: createConnectionLimits(LIMITS),
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    feed: createEventFeed({
      ...{ events: storage.events, hub },
      render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }),
    }),
    authorizeSubject: createAuthorizeSubject(storage),
    abortRun: () => Promise.reject(perdureError('run-not-found')),
    ids: { randomBytes: (length) => new Uint8Array(length) },
    authenticate: async () => ({ subject: 'alice', tokenId: 'tok_1', scopes: ['admin:*'] }),
    tickets: { redeem: () => Promise.reject(perdureError('auth-invalid')) },
    watchCredential(_, onLost) {
      watching.add(onLost)
      return () => watching.delete(onLost)
    },
    ...over,
  })
  const refusals: unknown[] = []
  const server = createServer().listen(0, '127.0.0.1')
  server.on('upgrade', (incoming, socket, head) => {
    webSockets
      .accept({
        incoming,
        socket,
        head,
        clientAddress: '127.0.0.1',
        requestId: 'req-1',
        operationId: 'realtime.open-ws',
      })
      .catch((error: unknown) => {
        refusals.push(error)
        socket.destroy()
      })
  })
  await once(server, 'listening')
  cleanUps.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const connect = async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws`, 'svc.protocol.v1')
    cleanUps.push(() => socket.terminate())
    await once(socket, 'open')
    return socket
  }
  return { webSockets, watching, connect, refusals }
}

describe('an open WebSocket', () => {
  it('is counted and has its token watched until the connection closes', async () => {
    const { webSockets, watching, connect } = await start()
    const sockets = [await connect(), await connect()]
    expect([webSockets.size(), watching.size]).toEqual([2, 2])

    sockets[0]?.close()

    await expect.poll(() => [webSockets.size(), watching.size]).toEqual([1, 1])
  })

  it('is closed when its token is revoked, without affecting other WebSockets', async () => {
    const { watching, connect } = await start()
    const [lost, kept] = [await connect(), await connect()]

    const [onLost] = watching
    onLost?.('revoked')

    expect((await once(lost, 'close'))[0]).toBe(4003)
    expect(kept.readyState).toBe(WebSocket.OPEN)
  })
})

describe('a WebSocket library that cannot be loaded', () => {
  it('refuses upgrades with overloaded and logs the cause, until it can be loaded', async () => {
    const cause = new Error('too many open files')
    const logged: unknown[] = []
    let failures = 2
    const { webSockets, connect, refusals } = await start({
      loadLibrary: () => (failures-- > 0 ? Promise.reject(cause) : import('ws')),
      logger: { debug: ignore, info: ignore, warn: ignore, error: (_, error) => logged.push(error) },
    })

    await expect(connect()).rejects.toThrow('socket hang up')
    await expect(connect()).rejects.toThrow('socket hang up')
    expect(refusals).toEqual([1, 2].map(() => expect.objectContaining({ code: 'overloaded', retryAfter: 1_000 })))
    expect(logged).toEqual([cause, cause])

    await connect()
    expect(webSockets.size()).toBe(1)
  })

  it('is loaded once', async () => {
    let loads = 0
    const { connect } = await start({
      loadLibrary() {
        loads++
        return import('ws')
      },
    })

    await Promise.all([connect(), connect()])
    await connect()

    expect(loads).toBe(1)
  })
})
