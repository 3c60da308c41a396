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

  it('reaches a client whose body was read in part', async () => {
    const listener = await open(async (request) => {
      const reader = request.body?.getReader()
      await reader?.read()
      await reader?.cancel()
      return text(413, 'too much')
    })
    const { socket, soFar } = dial(listener)
    socket.write(`${POST('Transfer-Encoding: chunked')}${REST.toString(16)}\r\n`)
    socket.write(Buffer.alloc(REST - 1))

    await expect.poll(soFar).toMatch(/^HTTP\/1\.1 413 [\s\S]*too much$/)
    await expect.poll(() => socket.writableLength === 0 || socket.destroyed).toBe(true)
  })

  it('leaves the connection open for the next request once the body was read', async () => {
    const { socket, received } = dial(
      await open(async (request) => text(200, `<${(await request.arrayBuffer()).byteLength}>`)),
    )
    socket.write(`${POST('Content-Length: 2')}hi${POST('Content-Length: 3', CLOSE)}hey`)

    expect((await received).match(/<\d>/g)).toEqual(['<2>', '<3>'])
  })
})

type Source = NonNullable<ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]>

describe('an answer that streams', () => {
  const streamed = (source: Source) => open(async () => new Response(new ReadableStream(source)))

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
