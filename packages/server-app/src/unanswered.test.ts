import { describe, expect, it } from 'vitest'
import { dial, expectRefusal, HOST, open, parse, textOf } from './listener.fixture.ts'

describe('garbage behind a request that waits', () => {
  const POST = ['POST / HTTP/1.1', HOST, 'Content-Length: 2', '', 'hi'].join('\r\n')

  it('is never answered in its place, and the request goes on', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const seen: string[] = []
    const listener = await open(async (request) => {
      seen.push(await textOf(request))
      await held
      seen.push('done')
      return Response.json({})
    })
    const { socket, received } = dial(listener)
    socket.write(POST)
    await expect.poll(() => seen).toEqual(['hi'])

    socket.write('nonsense\r\n\r\n')

    expect(await received).toBe('')
    release()
    await expect.poll(() => seen).toEqual(['hi', 'done'])
  })

  it('is not answered either when it comes in one piece with the request', async () => {
    const { socket, received } = dial(await open(() => new Promise(() => {})))
    socket.write(`${POST}nonsense\r\n\r\n`)

    expect(await received).toBe('')
  })

  it('is not answered where it stands in the body of a request that was answered before it was read', async () => {
    const listener = await open(async () => new Response('early'))
    const { socket, received, soFar } = dial(listener)
    socket.write(['POST / HTTP/1.1', HOST, 'Transfer-Encoding: chunked', '', '5', 'hello', ''].join('\r\n'))
    await expect.poll(soFar).toContain('early')

    socket.write('nonsense\r\n\r\n')

    expect((await received).match(/HTTP\/1\.1 /g)).toHaveLength(1)
  })

  it('is answered once the request was', async () => {
    const { socket, received, soFar } = dial(await open())
    socket.write(POST)
    await expect.poll(soFar).toContain('"sent":"hi"')
    const first = soFar()

    socket.write('nonsense\r\n\r\n')

    expect(first).toMatch(/^HTTP\/1\.1 200 /)
    expectRefusal(parse((await received).slice(first.length)), [400, 'validation-failed'])
  })
})
