import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openFaultyProxy } from './faulty-proxy.ts'

/** A server that repeats what it receives, a proxy in front of it, and a client of the proxy. */
async function openEcho() {
  const seen: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      seen.push(String(chunk))
      socket.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await openFaultyProxy((server.address() as AddressInfo).port)
  onTestFinished(async () => {
    await proxy.close()
    server.close()
  })
  const dial = async () => {
    const socket = connect(proxy.port, '127.0.0.1')
    const state = { received: '', isClosed: false }
    socket.on('data', (chunk) => {
      state.received += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      state.isClosed = true
    })
    await once(socket, 'connect').catch(() => undefined)
    return { socket, state }
  }
  return { proxy, seen, dial }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 50))

describe('a faulty proxy', () => {
  it('forwards both directions', async () => {
    const { dial } = await openEcho()
    const { socket, state } = await dial()
    socket.write('one')

    await expect.poll(() => state.received).toBe('one')
  })

  it('holds responses and delivers them in order after it heals', async () => {
    const { proxy, seen, dial } = await openEcho()
    const { socket, state } = await dial()
    proxy.lose('responses')
    socket.write('one')
    await expect.poll(() => seen).toEqual(['one'])
    socket.write('two')
    await expect.poll(() => seen).toEqual(['one', 'two'])
    expect(state.received).toBe('')
    proxy.heal()

    await expect.poll(() => state.received).toBe('onetwo')
  })

  it('holds requests', async () => {
    const { proxy, seen, dial } = await openEcho()
    const { socket } = await dial()
    proxy.lose('requests')
    socket.write('one')
    await turn()
    expect(seen).toEqual([])
    proxy.heal()

    await expect.poll(() => seen).toEqual(['one'])
  })

  it('accepts connections that stay silent while it is half open', async () => {
    const { proxy, seen, dial } = await openEcho()
    proxy.halfOpen()
    const { socket, state } = await dial()
    socket.write('one')
    await turn()
    expect({ seen, ...state }).toEqual({ seen: [], received: '', isClosed: false })
    proxy.heal()

    await expect.poll(() => state.received).toBe('one')
  })

  it('delays what it forwards', async () => {
    const { proxy, dial } = await openEcho()
    const { socket, state } = await dial()
    proxy.delay(100)
    const before = performance.now()
    socket.write('one')

    await expect.poll(() => state.received, { interval: 5 }).toBe('one')
    expect(performance.now() - before).toBeGreaterThanOrEqual(190)
  })

  it('delays one direction only', async () => {
    const { proxy, seen, dial } = await openEcho()
    const { socket, state } = await dial()
    proxy.delay(60_000, 'responses')
    socket.write('one')
    await expect.poll(() => seen).toEqual(['one'])
    await turn()
    expect(state.received).toBe('')
    proxy.heal()

    await expect.poll(() => state.received).toBe('one')
  })

  it('resets connections, and refuses new ones while it is shut', async () => {
    const { proxy, dial } = await openEcho()
    const first = await dial()
    proxy.cut()
    await expect.poll(() => first.state.isClosed).toBe(true)
    const second: { readonly socket: Socket; readonly state: { readonly isClosed: boolean } } = await dial()
    proxy.shut()
    await expect.poll(() => second.state.isClosed).toBe(true)
    const third = await dial()
    await expect.poll(() => third.state.isClosed).toBe(true)
    proxy.heal()
    const fourth = await dial()
    fourth.socket.write('one')

    await expect.poll(() => fourth.state.received).toBe('one')
  })
})
