import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { HttpEnv } from '@perdure/http'
import { describe, expect, it } from 'vitest'
import { CLOSE, dial, HOST, open } from './listener.fixture.ts'

const POST = (...fields: string[]) => ['POST / HTTP/1.1', HOST, ...fields, '', ''].join('\r\n')
const text = (status: number, body: string) => ({
  status,
  headers: { 'Content-Length': String(Buffer.byteLength(body)) },
  text: body,
})
/** More than what lies between two sockets. */
const REST = 32 * 1024 * 1024

describe('an answer', () => {
  it('reaches a client that is still sending a body which nobody reads', async () => {
    const { socket, received } = dial(await open(async () => text(413, 'too much')))
    socket.write(POST(`Content-Length: ${REST}`, CLOSE))
    socket.write(Buffer.alloc(REST))

    expect(await received).toMatch(/^HTTP\/1\.1 413 [\s\S]*too much$/)
  })

  it('is there for a client that reads it when it has sent all of its body', async () => {
    const { socket, received } = dial(await open(async () => text(413, 'too much')))
    socket.pause().write(POST(`Content-Length: ${REST / 4}`))
    await new Promise((resolve) => socket.write(Buffer.alloc(REST / 4), resolve))
    socket.resume()

    expect(await received).toMatch(/^HTTP\/1\.1 413 [\s\S]*too much$/)
  })

  it('reaches a client whose body was read in part', async () => {
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

  it.each(['HEAD', 'POST'])('to a %s that goes unread says that the connection ends, and ends it', async (method) => {
    const { socket, received } = dial(await open(async () => text(413, 'too much')))
    socket.write(POST('Content-Length: 2').replace('POST', method))

    const answer = await received
    expect(answer).toContain('Content-Length: 8')
    expect(answer.match(/^connection: .*$/gim)).toEqual(['Connection: close'])
    expect(answer.endsWith('too much')).toBe(method === 'POST')
  })

  it('to a body that nobody reads is not preceded by a call for it', async () => {
    const { socket, received } = dial(await open(async () => text(413, 'too much')))
    socket.write(POST('Content-Length: 2', 'Expect: 100-continue'))

    expect(await received).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('is written at once when no other is coming, else with those that come in the same turn', async () => {
    const taken: { readonly outgoing: ServerResponse; readonly answer: () => void }[] = []
    const listener = await open(async (_, env) => {
      const outgoing = env?.outgoing as ServerResponse
      await new Promise<void>((answer) => taken.push({ outgoing, answer }))
      return text(200, 'here')
    })
    const clients = [dial(listener), dial(listener)]
    for (const { socket } of clients) socket.write(POST('Content-Length: 0', CLOSE))
    await expect.poll(() => taken.length).toBe(2)
    const isWrittenAtOnce = async ({ outgoing, answer }: (typeof taken)[number]) => {
      await turn()
      answer()
      await new Promise<void>((resolve) => queueMicrotask(() => process.nextTick(resolve)))
      return outgoing.headersSent
    }

    expect([await isWrittenAtOnce(taken[0] as never), await isWrittenAtOnce(taken[1] as never)]).toEqual([false, true])
    for (const { received } of clients) expect(await received).toMatch(/here$/)
  })

  it('leaves the connection open for the next of many requests that come at once, with their bodies', async () => {
    const { socket, received } = dial(await open(async (request) => text(200, `<${new URL(request.url).pathname}>`)))
    const paths = Array.from({ length: 100 }, (_, index) => `/${index}`)
    const requests = paths.map((path) => `${POST('Content-Length: 2').replace('/', path)}hi`)
    socket.write(`${requests.join('')}${POST('Content-Length: 0', CLOSE)}`)

    expect((await received).match(/<.*?>/g)).toEqual([...paths, '/'].map((path) => `<${path}>`))
  })

  it('leaves the connection open for the next request once the body was read', async () => {
    const { socket, received } = dial(
      await open(async (request) => text(200, `<${(await request.arrayBuffer()).byteLength}>`)),
    )
    socket.write(`${POST('Content-Length: 2')}hi${POST('Content-Length: 3', CLOSE)}hey`)

    expect((await received).match(/<\d>/g)).toEqual(['<2>', '<3>'])
  })
})

const EVENTS = { 'Content-Type': 'text/event-stream; charset=utf-8' }
type Source = NonNullable<ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]>

describe('an answer that streams', () => {
  const streamed = (source: Source) => open(async () => new Response(new ReadableStream(source), { headers: EVENTS }))

  it('sends its head before its first bytes', async () => {
    const { socket, soFar } = dial(await streamed({}))
    socket.write(POST('Content-Length: 0'))

    await expect.poll(soFar).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  it('is cancelled when its reader leaves', async () => {
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
  ] as const)('is cancelled when its reader has left before: %s, %s', async (type, leave, seen) => {
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
  })

  it('is cancelled when its reader leaves while it stands behind another', async () => {
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

  it('takes no more from its source than a client takes that reads nothing', async () => {
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

  it('breaks off with its source, so that nobody takes it for whole', async () => {
    const { socket, received } = dial(await streamed({ pull: () => Promise.reject(new Error('gone')) }))
    socket.write(POST('Content-Length: 0'))

    expect(await received).not.toMatch(/0\r\n\r\n$/)
  })
})

describe('a client that ends its half of the connection', () => {
  const hasEnded = ({ incoming }: HttpEnv = {}) => once(incoming?.socket as Socket, 'end')

  it('gets the answers to all that it has asked, in order, and then the end', async () => {
    const { socket, received } = dial(
      await open(async (request, env) => {
        await hasEnded(env)
        return text(200, `<${new URL(request.url).pathname}>`)
      }),
    )
    socket.end(`${POST('Content-Length: 0')}${POST('Content-Length: 0').replace('/', '/2')}`)

    expect((await received).match(/<.*?>/g)).toEqual(['</>', '</2>'])
  })

  it('gets all of an answer that streams and has an end', async () => {
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

  it('has left a stream of events, which then does not end as if it were whole', async () => {
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
