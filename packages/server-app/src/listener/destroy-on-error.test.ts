import { type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { LIMITS, logger } from './listener.fixture.ts'
import { type Listener, listen } from './listener.ts'
import { createUpgrades, type OnUpgrade } from './upgrades.ts'

const ignore = () => undefined

const opened: Listener[] = []
afterEach(async () => {
  for (const listener of opened.splice(0)) await listener.close(0)
})

/** Returns the server's socket of a connection on which a client requests an upgrade. */
async function connectionOf(onUpgrade: OnUpgrade): Promise<Duplex> {
  const asked = new Promise<Duplex>((resolve) => {
    const take: OnUpgrade = (incoming, socket: Duplex, head) => {
      onUpgrade(incoming, socket, head)
      setImmediate(() => resolve(socket))
    }
    const answer = () => Promise.reject(new Error('no request was expected'))
    listen({ answer, onUpgrade: take, logger }, ADDRESS).then((listener) => {
      opened.push(listener)
      const headers = { connection: 'Upgrade', upgrade: 'websocket' }
      request({ ...{ host: listener.host, port: listener.port }, headers })
        .on('error', ignore)
        .end()
    })
  })
  return asked
}

const ADDRESS = { host: '127.0.0.1', port: 0, ...LIMITS }

/** Admits every upgrade, and accepts its WebSocket with `accept`. */
const upgradesTo = (accept: (socket: Duplex) => void): OnUpgrade =>
  createUpgrades({
    app: {
      admitUpgrade: async () => ({
        ...{
          clientAddress: '127.0.0.1',
          requestId: 'req-1',
          operationId: 'realtime.open-ws',
          params: {},
          record: async () => undefined,
        },
        refuse: (error: unknown) => Promise.reject(error),
      }),
    },
    webSockets: {
      async accept({ socket }) {
        accept(socket as Duplex)
        return { principal: { subject: 'alice', scopes: [] } }
      },
    },
    logger,
  })

const closing = async (socket: Duplex) => {
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.destroy(new Error('reset by its client'))
  await closed
  return socket.errored?.message
}

describe('destroyOnError', () => {
  it('destroys a connection that breaks while its upgrade is pending', async () => {
    const waiting: OnUpgrade = (_incoming: IncomingMessage) => undefined

    expect(await closing(await connectionOf(waiting))).toBe('reset by its client')
  })

  it('destroys a connection that breaks when nothing else handles its errors', async () => {
    expect(await closing(await connectionOf(upgradesTo(ignore)))).toBe('reset by its client')
  })

  it('does not handle the errors of a connection whose WebSocket handles them', async () => {
    const socket = await connectionOf(upgradesTo((taken) => taken.on('error', ignore)))

    expect(socket.listeners('error')).toEqual([ignore])
    expect(await closing(socket)).toBe('reset by its client')
  })
})
