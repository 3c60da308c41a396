import type { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { CLOSE, dial, expectRefusal, HOST, open, parse, send } from './listener.fixture.ts'
import type { OnUpgrade } from './upgrades.ts'

describe('garbage after a request', () => {
  const POST = ['POST / HTTP/1.1', HOST, 'Content-Length: 2', '', 'hi'].join('\r\n')

  /**
   * Starts a server that answers `/now` at once and holds every other answer until the test releases it. A released
   * answer is sent in two parts.
   */
  async function openHeld() {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const listener = await open(async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/now') return new Response()
      if (pathname === '/whole') await held
      const parts = [`${pathname} in`, ' two parts']
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        const part = parts.shift()
        if (part === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(part))
        if (parts.length === 1) await held
      }
      return new Response(new ReadableStream({ pull }))
    })
    // Once this request is answered, the server has read everything that other connections sent earlier.
    return { listener, release, hasRead: () => send(listener, ['GET /now HTTP/1.1', HOST, CLOSE]) }
  }
  const get = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n\r\n`
  const answersIn = (text: string) => text.match(/HTTP\/1\.1 \d+|connection: close|\/\w+ in| two parts/gi)

  it('gets no answer, but the request before it is answered, and the connection ends', async () => {
    const { listener, release, hasRead } = await openHeld()
    const { socket, received } = dial(listener)
    socket.write(get('/whole'))
    socket.write('nonsense\r\n\r\n')
    await hasRead()
    socket.write('more of it\r\n\r\n')
    await hasRead()
    release()

    expect(answersIn(await received)).toEqual(['HTTP/1.1 200', 'Connection: close', '/whole in', ' two parts'])
  })

  it('does not cut off an answer that is being sent', async () => {
    const { listener, release, hasRead } = await openHeld()
    const { socket, received, soFar } = dial(listener)
    socket.write(get('/parts'))
    await expect.poll(soFar).toContain('/parts in')
    socket.write('nonsense\r\n\r\n')
    await hasRead()
    release()

    expect(answersIn(await received)).toEqual(['HTTP/1.1 200', '/parts in', ' two parts'])
  })

  it('does not affect the answers to earlier requests or their order', async () => {
    const { listener, release, hasRead } = await openHeld()
    const { socket, received } = dial(listener)
    socket.write(`${get('/parts')}${get('/whole')}nonsense\r\n\r\n`)
    await hasRead()
    release()

    expect(answersIn(await received)).toEqual([
      ...['HTTP/1.1 200', '/parts in', ' two parts'],
      ...['HTTP/1.1 200', 'Connection: close', '/whole in', ' two parts'],
    ])
  })

  it.each([[[]], [[CLOSE]]])(
    'is not answered when it follows a body that is longer than its Content-Length (headers %j)',
    async (more) => {
      const { socket, received } = dial(await open())
      const head = ['POST / HTTP/1.1', HOST, ...more, 'Content-Length: 2']
      socket.write(`${head.join('\r\n')}\r\n\r\nhi and more\r\n\r\n`)

      const text = await received
      expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1)
      expect(JSON.parse(parse(text).body)).toMatchObject({ method: 'POST', sent: 'hi' })
    },
  )

  it('is not answered when it is part of a body whose request was answered early', async () => {
    const listener = await open(async () => new Response('early'))
    const { socket, received, soFar } = dial(listener)
    socket.write(['POST / HTTP/1.1', HOST, 'Transfer-Encoding: chunked', '', '5', 'hello', ''].join('\r\n'))
    await expect.poll(soFar).toContain('early')

    socket.write('nonsense\r\n\r\n')

    expect((await received).match(/HTTP\/1\.1 /g)).toHaveLength(1)
  })

  it('is rejected once the request before it is answered', async () => {
    const { socket, received, soFar } = dial(await open())
    socket.write(POST)
    await expect.poll(soFar).toContain('"sent":"hi"')
    const first = soFar()

    socket.write('nonsense\r\n\r\n')

    expect(first).toMatch(/^HTTP\/1\.1 200 /)
    expectRefusal(parse((await received).slice(first.length)), [400, 'validation-failed'])
  })
})

describe('an upgrade or CONNECT after open requests', () => {
  const GET = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n\r\n`
  const UPGRADE = ['GET /ws HTTP/1.1', HOST, 'Connection: Upgrade', 'Upgrade: websocket', '', ''].join('\r\n')
  const CONNECT = ['CONNECT a:80 HTTP/1.1', HOST, '', ''].join('\r\n')
  const onUpgrade: OnUpgrade = (_, socket: Duplex) => socket.end('HTTP/1.1 101 Switched\r\n\r\n')
  const statuses = (text: string) => text.match(/(?<=HTTP\/1\.1 )\d+/g)

  async function openHeld(answer: () => Response) {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    let asked = 0
    const listener = await open(
      async () => {
        asked++
        await held
        return answer()
      },
      {},
      onUpgrade,
    )
    return { listener, release, hasAsked: (count: number) => expect.poll(() => asked).toBe(count) }
  }

  it.each([
    ['an upgrade', UPGRADE, '101'],
    ['CONNECT', CONNECT, '400'],
  ])('is answered after the open requests: %s', async (_, last, status) => {
    const { listener, release, hasAsked } = await openHeld(() => new Response('done'))
    const { socket, received } = dial(listener)
    socket.write(`${GET('/1')}${GET('/2')}${last}`)
    await hasAsked(2)
    release()

    expect(statuses(await received)).toEqual(['200', '200', status])
  })

  it.each([UPGRADE, CONNECT])('does not truncate an earlier answer that exceeds every buffer: %j', async (last) => {
    const size = 32 * 1024 * 1024
    const { listener, release, hasAsked } = await openHeld(
      () => new Response(ReadableStream.from(Array.from({ length: 32 }, () => new Uint8Array(size / 32)))),
    )
    const { socket, received } = dial(listener)
    socket.write(`${GET('/1')}${last}`)
    await hasAsked(1)
    release()

    const text = await received
    expect(text.length).toBeGreaterThan(size)
    expect(statuses(text)).toHaveLength(2)
  })

  it.each([UPGRADE, CONNECT])('does not delay the close of the listener: %j', async (last) => {
    const { listener, hasAsked } = await openHeld(() => new Response())
    const { socket, received } = dial(listener)
    socket.write(`${GET('/1')}${last}`)
    await hasAsked(1)

    await listener.close(0)

    expect(await received).toBe('')
  })
})
