import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { HttpEnv } from '@perdure/http'
import { describe, expect, it } from 'vitest'
import { CLOSE, dial, HOST, open, outgoingOf } from './listener.fixture.ts'

const POST = (...fields: string[]) => ['POST / HTTP/1.1', HOST, ...fields, '', ''].join('\r\n')
const text = (status: number, body: string) => ({
  status,
  headers: { 'Content-Length': String(Buffer.byteLength(body)) },
  text: body,
})
/** More than the buffers between two sockets hold. */
const REST = 32 * 1024 * 1024

interface HeldAnswer {
  readonly outgoing: ServerResponse
  readonly release: () => void
}

/** A server that holds every answer until the test releases it. */
async function openHeld() {
  const held: HeldAnswer[] = []
  const listener = await open(async (_, env) => {
    const outgoing = outgoingOf(env) as ServerResponse
    await new Promise<void>((release) => held.push({ outgoing, release }))
    return text(200, 'here')
  })
  return { listener, held }
}

async function isWrittenAtOnce(answer?: HeldAnswer): Promise<boolean | undefined> {
  await turn()
  answer?.release()
  await new Promise<void>((resolve) => queueMicrotask(() => process.nextTick(resolve)))
  return answer?.outgoing.headersSent
}

describe('an answer', () => {
  it('reaches a client that is still sending a body the server does not read', async () => {
    const { socket, received } = dial(await open(async () => text(413, 'too much')))
    socket.write(POST(`Content-Length: ${REST}`, CLOSE))
    socket.write(Buffer.alloc(REST))

    expect(await received).toMatch(/^HTTP\/1\.1 413 [\s\S]*too much$/)
  })

  it('reaches a client that reads only after sending its whole body', async () => {
    const { socket, received } = dial(await open(async () => text(413, 'too much')))
    socket.pause().write(POST(`Content-Length: ${REST / 4}`))
    await new Promise((resolve) => socket.write(Buffer.alloc(REST / 4), resolve))
    socket.resume()

    expect(await received).toMatch(/^HTTP\/1\.1 413 [\s\S]*too much$/)
  })

  it('reaches a client whose body the server has read only in part', async () => {
    const listener = await open(async (request) => {
      const reader = request.body?.getReader()
      await reader?.read()
      await reader?.cancel()
      return text(413, 'too much')
    })
    const { socket, received, soFar } = dial(listener)
    socket.write(`${POST('Transfer-Encoding: chunked')}${REST.toString(16)}\r\n`)
    socket.write(Buffer.alloc(REST - 1))

    await expect.poll(soFar).toMatch(/^HTTP\/1\.1 413 [\s\S]*too much$/)
    expect((await received).match(/^connection: .*$/gim)).toEqual(['Connection: close'])
  })

  it.each(['HEAD', 'POST'])(
    'announces Connection: close and closes when the body of a %s was not read',
    async (method) => {
      const { socket, received } = dial(await open(async () => text(413, 'too much')))
      socket.write(POST('Content-Length: 2').replace('POST', method))

      const answer = await received
      expect(answer).toContain('Content-Length: 8')
      expect(answer.match(/^connection: .*$/gim)).toEqual(['Connection: close'])
      expect(answer.endsWith('too much')).toBe(method === 'POST')
    },
  )

  it('is sent without 100 Continue when the body is not read', async () => {
    const { socket, received } = dial(await open(async () => text(413, 'too much')))
    socket.write(POST('Content-Length: 2', 'Expect: 100-continue'))

    expect(await received).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('is written at once if no other answer is pending, otherwise at the end of the event loop turn', async () => {
    const { listener, held } = await openHeld()
    const clients = [dial(listener), dial(listener)]
    for (const { socket } of clients) socket.write(POST('Content-Length: 0', CLOSE))
    await expect.poll(() => held.length).toBe(2)

    expect([await isWrittenAtOnce(held[0]), await isWrittenAtOnce(held[1])]).toEqual([false, true])
    for (const { received } of clients) expect(await received).toMatch(/here$/)
  })

  it('is written at once while another listener of the process has an answer pending', async () => {
    const servers = [await openHeld(), await openHeld()]
    const clients = servers.map(({ listener }) => dial(listener))
    for (const { socket } of clients) socket.write(POST('Content-Length: 0', CLOSE))
    await expect.poll(() => servers.map(({ held }) => held.length)).toEqual([1, 1])

    for (const { held } of servers) expect(await isWrittenAtOnce(held[0])).toBe(true)
    for (const { received } of clients) expect(await received).toMatch(/here$/)
  })

  it('keeps the connection open when many requests with bodies arrive at once', async () => {
    const { socket, received } = dial(await open(async (request) => text(200, `<${new URL(request.url).pathname}>`)))
    const paths = Array.from({ length: 100 }, (_, index) => `/${index}`)
    const requests = paths.map((path) => `${POST('Content-Length: 2').replace('/', path)}hi`)
    socket.write(`${requests.join('')}${POST('Content-Length: 0', CLOSE)}`)

    expect((await received).match(/<.*?>/g)).toEqual([...paths, '/'].map((path) => `<${path}>`))
  })

  it('keeps the connection open if the body was read', async () => {
    const { socket, received } = dial(
      await open(async (request) => text(200, `<${(await request.arrayBuffer()).byteLength}>`)),
    )
    socket.write(`${POST('Content-Length: 2')}hi${POST('Content-Length: 3', CLOSE)}hey`)

    expect((await received).match(/<\d>/g)).toEqual(['<2>', '<3>'])
  })
})

const EVENTS = { 'Content-Type': 'text/event-stream; charset=utf-8' }
type Source = NonNullable<ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]>

describe('a streamed answer', () => {
  const streamed = (source: Source) => open(async () => new Response(new ReadableStream(source), { headers: EVENTS }))

  it('sends its headers before the first bytes of its body', async () => {
    const { socket, soFar } = dial(await streamed({}))
    socket.write(POST('Content-Length: 0'))

    await expect.poll(soFar).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  it('is cancelled when the client disconnects', async () => {
    const left = Promise.withResolvers<void>()
    const { socket, soFar } = dial(await streamed({ cancel: () => left.resolve() }))
    socket.write(POST('Content-Length: 0'))
    await expect.poll(soFar).toMatch(/^HTTP\/1\.1 200 OK\r\n/)

    socket.destroy()

    await expect(left.promise).resolves.toBeUndefined()
  })

  it.each([
    ['text/event-stream', 'end', 'end'],
    ['text/event-stream', 'resetAndDestroy', 'close'],
    ['application/x-ndjson', 'resetAndDestroy', 'close'],
  ] as const)(
    'is cancelled if the client has disconnected before the answer begins: %s, %s',
    async (type, leave, seen) => {
      const asked = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      const listener = await open(async (_, { incoming } = {}) => {
        const { socket } = incoming as IncomingMessage
        const closed = new Promise((resolve) => socket.once(seen, resolve))
        asked.resolve()
        await closed
        return new Response(new ReadableStream({ cancel: () => left.resolve() }), { headers: { 'Content-Type': type } })
      })
      const { socket } = dial(listener)
      socket.write(POST('Content-Length: 0'))
      await asked.promise

      socket[leave]()

      await expect(left.promise).resolves.toBeUndefined()
    },
  )

  it('is cancelled when the client disconnects while the answer waits behind another answer', async () => {
    const left: string[] = []
    const asked: string[] = []
    const listener = await open(async ({ url }) => {
      const { pathname } = new URL(url)
      asked.push(pathname)
      return new Response(new ReadableStream({ cancel: () => void left.push(pathname) }), { headers: EVENTS })
    })
    const { socket, soFar } = dial(listener)
    socket.write(`${POST('Content-Length: 0')}${POST('Content-Length: 0').replace('/', '/2')}`)
    await expect.poll(() => [asked, soFar()]).toEqual([['/', '/2'], expect.stringMatching(/^HTTP/)])

    socket.resetAndDestroy()

    await expect.poll(() => left.toSorted()).toEqual(['/', '/2'])
  })

  it('stops reading its source while the client reads nothing', async () => {
    let taken = 0
    const listener = await streamed({
      pull(controller) {
        taken++
        controller.enqueue(new Uint8Array(1_048_576))
      },
    })
    const { socket } = dial(listener)
    socket.pause().write(POST('Content-Length: 0'))
    await expect.poll(() => taken).toBeGreaterThan(1)

    let before = 0
    const isStill = () => {
      const isSame = before === taken
      before = taken
      return isSame
    }
    await expect.poll(isStill, { interval: 200 }).toBe(true)
    expect(taken).toBeLessThan(64)
  })

  it('is cut off before its final chunk when its source fails', async () => {
    const { socket, received } = dial(await streamed({ pull: () => Promise.reject(new Error('gone')) }))
    socket.write(POST('Content-Length: 0'))

    expect(await received).not.toMatch(/0\r\n\r\n$/)
  })
})

describe('a half-closed connection', () => {
  const hasEnded = ({ incoming }: HttpEnv = {}) => once(incoming?.socket as Socket, 'end')

  it('receives the answers to all its requests in order, then ends', async () => {
    const { socket, received } = dial(
      await open(async (request, env) => {
        await hasEnded(env)
        return text(200, `<${new URL(request.url).pathname}>`)
      }),
    )
    socket.end(`${POST('Content-Length: 0')}${POST('Content-Length: 0').replace('/', '/2')}`)

    expect((await received).match(/<.*?>/g)).toEqual(['</>', '</2>'])
  })

  it('receives a finite streamed answer completely', async () => {
    const { socket, received } = dial(
      await open(async (_, env) => {
        const ended = hasEnded(env)
        const parts = async function* () {
          yield new TextEncoder().encode('all')
          await ended
          yield new TextEncoder().encode(' of it')
        }
        return new Response(ReadableStream.from(parts()))
      }),
    )
    socket.end(POST('Content-Length: 0'))

    expect(await received).toMatch(/all[\s\S]* of it[\s\S]*0\r\n\r\n$/)
  })

  it('cancels its event stream and does not receive the final chunk', async () => {
    const { socket, received } = dial(
      await open(async (_, env) => {
        const ended = hasEnded(env)
        const events = async function* () {
          yield new TextEncoder().encode(': hello\n\n')
          await ended
        }
        return new Response(ReadableStream.from(events()), { headers: { 'Content-Type': 'text/event-stream' } })
      }),
    )
    socket.end(POST('Content-Length: 0'))

    expect(await received).not.toMatch(/0\r\n\r\n$/)
  })
})
