import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CLOSE, dial, HOST, type LIMITS, open, outgoingOf, parse, send } from './listener.fixture.ts'
import { createStallCheck } from './stall-check.ts'

/** More than the buffers between two sockets hold. */
const SIZE = 16 * 1024 * 1024
const REQUEST = `GET / HTTP/1.1\r\n${HOST}\r\n\r\n`
const TIMEOUT_MS = 500

const large = () => ({ status: 200, headers: { 'Content-Length': String(SIZE) }, text: 'x'.repeat(SIZE) })

/** A server whose answers report when they are closed. */
async function openObserved(answer: () => object, limits: Partial<typeof LIMITS> = { writeTimeoutMs: TIMEOUT_MS }) {
  const closed = Promise.withResolvers<void>()
  const listener = await open(async ({ url }, env) => {
    if (url.endsWith('/small')) return { status: 200, headers: { 'Content-Length': '2' }, text: 'ok' }
    const outgoing = outgoingOf(env)
    outgoing?.once('close', () => closed.resolve())
    return answer() as Response
  }, limits)
  return { listener, closed: closed.promise }
}

/** Opens a connection that sends and never reads. */
function dialDeaf({ port }: { readonly port: number }): Socket {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  return socket.on('error', () => undefined)
}

describe('a client that reads nothing', () => {
  it.each<[string, () => object]>([
    ['an answer', large],
    ['a stream that ends', () => new Response(new Blob(['x'.repeat(SIZE)]).stream())],
  ])('is disconnected when %s waits for it', async (_, answer) => {
    const { listener, closed } = await openObserved(answer)
    dialDeaf(listener).write(REQUEST)

    await expect(closed).resolves.toBeUndefined()
  })

  it('is disconnected although it keeps sending', async () => {
    const { listener, closed } = await openObserved(large)
    const socket = dialDeaf(listener)
    socket.write(REQUEST)
    const sending = setInterval(() => socket.write(REQUEST), 20)
    onTestFinished(() => clearInterval(sending))

    await expect(closed).resolves.toBeUndefined()
  })

  it('cancels the stream that it was answered with', async () => {
    const cancelled = Promise.withResolvers<void>()
    const source = {
      pull: (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(65_536)),
      cancel: () => cancelled.resolve(),
    }
    const { listener } = await openObserved(() => new Response(new ReadableStream(source)))
    dialDeaf(listener).write(REQUEST)

    await expect(cancelled.promise).resolves.toBeUndefined()
  })

  it('keeps its event stream, which has a limit of its own', async () => {
    const source = {
      pull: (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(65_536)),
    }
    const headers = { 'Content-Type': 'text/event-stream' }
    const { listener, closed } = await openObserved(() => new Response(new ReadableStream(source), { headers }), {
      writeTimeoutMs: 100,
    })
    let isClosed = false
    closed.then(() => {
      isClosed = true
    })
    dialDeaf(listener).write(REQUEST)
    const other = await openObserved(large, { writeTimeoutMs: 100 })
    dialDeaf(other.listener).write(REQUEST)
    await other.closed
    await pause(200)

    expect(isClosed).toBe(false)
  })

  it('does not delay the close of the listener', async () => {
    const { listener } = await openObserved(large, { writeTimeoutMs: 600_000 })
    const socket = dialDeaf(listener)
    socket.write(REQUEST)
    await new Promise((resolve) => socket.once('readable', resolve))

    await expect(listener.close(50)).resolves.toBeUndefined()
  })
})

describe('a client that reads slowly', () => {
  it('gets the whole answer, which takes longer than the write timeout', async () => {
    const { listener } = await openObserved(large, { writeTimeoutMs: 1_000 })
    const { socket, received } = dial(listener)
    const startedAt = performance.now()
    socket.on('data', () => {
      socket.pause()
      setTimeout(() => socket.resume(), 15)
    })
    socket.write(['GET / HTTP/1.1', HOST, CLOSE, '', ''].join('\r\n'))

    expect(parse(await received).body.length).toBe(SIZE)
    expect(performance.now() - startedAt).toBeGreaterThan(1_500)
  }, 60_000)

  it('keeps an idle connection on which nothing waits', async () => {
    const { listener } = await openObserved(large, { writeTimeoutMs: 100 })
    const { socket, soFar } = dial(listener)
    const small = `GET /small HTTP/1.1\r\n${HOST}\r\n\r\n`
    socket.write(small)
    await expect.poll(soFar).toContain('ok')
    await pause(300)
    socket.write(small)

    await expect.poll(() => soFar().match(/200 OK/g)?.length).toBe(2)
    expect((await send(listener, ['GET /small HTTP/1.1', HOST, CLOSE])).status).toBe(200)
  })
})

describe('createStallCheck', () => {
  const createSocket = () => {
    const handle = { bytesWritten: 1_000, writeQueueSize: 400 }
    const state = { _handle: handle, writableLength: 400, isDestroyed: false, handle }
    return Object.assign(state, {
      destroy() {
        state.isDestroyed = true
      },
    })
  }
  const checkOf = (socket: object, stalled: number[] = []) =>
    createStallCheck({
      timeoutMs: 100,
      sockets: () => [socket as unknown as Socket],
      onStalled: (waitingBytes) => stalled.push(waitingBytes),
    })
  const runTimes = (check: ReturnType<typeof checkOf>, times: number) => {
    for (let run = 0; run < times; run++) check.run()
  }

  it('disconnects after a timeout without progress, and reports the waiting bytes', () => {
    const socket = createSocket()
    const stalled: number[] = []
    const check = checkOf(socket, stalled)

    runTimes(check, 10)
    expect(socket.isDestroyed).toBe(false)
    check.run()

    expect([socket.isDestroyed, stalled]).toEqual([true, [400]])
  })

  it('counts a partly written buffer as progress, and more waiting bytes not', () => {
    const socket = createSocket()
    const check = checkOf(socket)

    runTimes(check, 10)
    socket.handle.writeQueueSize -= 1
    runTimes(check, 10)
    expect(socket.isDestroyed).toBe(false)
    socket.handle.bytesWritten += 500
    socket.handle.writeQueueSize += 500
    check.run()

    expect(socket.isDestroyed).toBe(true)
  })

  it('starts again when bytes wait again', () => {
    const socket = createSocket()
    const check = checkOf(socket)

    runTimes(check, 10)
    socket.writableLength = 0
    check.run()
    socket.writableLength = 400
    runTimes(check, 10)

    expect(socket.isDestroyed).toBe(false)
  })

  it('ignores an exempt connection until it is included again', () => {
    const socket = createSocket()
    const check = checkOf(socket)
    check.exempt(socket)
    runTimes(check, 30)
    expect(socket.isDestroyed).toBe(false)

    check.include(socket)
    runTimes(check, 11)

    expect(socket.isDestroyed).toBe(true)
  })
})
