import { describe, expect, it } from 'vitest'
import { CLOSE, dial, HOST, open } from './listener.fixture.ts'

const GET = ['GET / HTTP/1.1', HOST, CLOSE, '', ''].join('\r\n')

/** Answers with these parts. `isFreed` says of each part whether its memory is free. */
async function streaming(parts: readonly Uint8Array<ArrayBuffer>[], type = 'application/json') {
  const rest = parts[Symbol.iterator]()
  let asked = 0
  const pull = (controller: ReadableStreamDefaultController) => {
    asked++
    const { done, value } = rest.next()
    if (done === true) controller.close()
    else controller.enqueue(value)
  }
  const body = () => new ReadableStream({ pull }, { highWaterMark: 0 })
  const listener = await open(async () => new Response(body(), { headers: { 'Content-Type': type } }))
  const { socket, received } = dial(listener)
  return { socket, received, asked: () => asked, isFreed: () => parts.map(({ buffer }) => buffer.detached) }
}

const partsOf = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => new Uint8Array(length).fill(0x61 + index))

describe('a streamed answer', () => {
  it('frees each part when it is written', async () => {
    const { socket, received, isFreed } = await streaming(partsOf(3, 1_048_576))
    socket.write(GET)

    const text = await received
    for (const letter of 'abc') expect(text.split(letter.repeat(1_048_576))).toHaveLength(2)
    expect(isFreed()).toEqual([true, true, true])
  })

  it('keeps a part until the client has read it', async () => {
    const { socket, received, asked, isFreed } = await streaming(partsOf(2, 32 * 1_048_576))
    socket.pause().write(GET)
    // The first part does not fit into the buffers of the two sockets.
    await expect.poll(asked).toBe(1)
    expect(isFreed()).toEqual([false, false])

    socket.resume()

    expect((await received).split('b'.repeat(32 * 1_048_576))).toHaveLength(2)
    expect(isFreed()).toEqual([true, true])
  })

  it('keeps a part of a buffer that has other parts', async () => {
    const buffer = new Uint8Array(2_000).fill(0x61)
    const { socket, received, isFreed } = await streaming([buffer.subarray(0, 1_000), buffer.subarray(1_000)])
    socket.write(GET)

    expect(await received).toContain('a'.repeat(1_000))
    expect([isFreed(), buffer.length]).toEqual([[false, false], 2_000])
  })

  it('leaves the event loop to others after each 64 KiB, however fast the client reads', async () => {
    let turns = 0
    const turnOfEach: number[] = []
    const parts = partsOf(20, 32_768)[Symbol.iterator]()
    const listener = await open(async () => {
      const count = () => {
        turns++
        if (turnOfEach.length < 20) setImmediate(count)
      }
      setImmediate(count)
      const pull = (controller: ReadableStreamDefaultController) => {
        const { done, value } = parts.next()
        if (done === true) return controller.close()
        turnOfEach.push(turns)
        controller.enqueue(value)
      }
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
    })
    const { socket, received } = dial(listener)
    socket.write(GET)

    await received
    expect(turnOfEach).toHaveLength(20)
    const partsIn = (turn: number) => turnOfEach.filter((seen) => seen === turn).length
    expect(Math.max(...turnOfEach.map(partsIn))).toBeLessThanOrEqual(2)
  })

  it('keeps the parts of an event stream, which several clients may share', async () => {
    const { socket, received, isFreed } = await streaming(partsOf(2, 1_000), 'text/event-stream')
    socket.write(GET)

    expect(await received).toContain('b'.repeat(1_000))
    expect(isFreed()).toEqual([false, false])
  })

  it('has every cookie of the response', async () => {
    const headers = new Headers()
    for (const cookie of ['session=1; HttpOnly', 'sign-in=; Max-Age=0']) headers.append('Set-Cookie', cookie)
    const { socket, received } = dial(await open(async () => new Response(null, { status: 303, headers })))
    socket.write(GET)

    expect((await received).match(/^set-cookie: .*(?=\r$)/gim)).toEqual([
      'set-cookie: session=1; HttpOnly',
      'set-cookie: sign-in=; Max-Age=0',
    ])
  })
})
