import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { CLOSE, dial, HOST, open, outgoingOf } from './listener.fixture.ts'

const GET = ['GET / HTTP/1.1', HOST, CLOSE, '', ''].join('\r\n')
const PART = 128 * 1024

const answering = (text: string) =>
  open(async () => ({ status: 200, headers: { 'Content-Length': String(Buffer.byteLength(text)) }, text }))

const bodyOf = (received: string) => Buffer.from(received.slice(received.indexOf('\r\n\r\n') + 4), 'latin1').toString()

describe('a long text answer', () => {
  it.each([
    ['ends before', PART - 2],
    ['spans', PART - 1],
    ['starts after', PART],
  ])('arrives complete when a character of two code units %s the end of a part', async (_, before) => {
    const text = `${'a'.repeat(before)}🚢${'é'.repeat(PART - 1)}🚢${'b'.repeat(3 * PART)}`
    const { socket, received } = dial(await answering(text))
    socket.write(GET)

    expect(bodyOf(await received) === text).toBe(true)
  })

  it('is no longer written after the client has disconnected', async () => {
    let outgoing: ServerResponse | undefined
    const text = 'x'.repeat(64 * 1024 * 1024)
    const listener = await open(async (_, env) => {
      outgoing = outgoingOf(env)
      return { status: 200, headers: { 'Content-Length': String(text.length) }, text }
    })
    const { socket } = dial(listener)
    socket.pause().write(GET)
    await expect.poll(() => outgoing?.headersSent).toBe(true)

    socket.resetAndDestroy()

    await expect.poll(() => outgoing?.destroyed).toBe(true)
    expect(outgoing?.writableEnded).toBe(false)
    const next = dial(listener)
    next.socket.write(GET)
    expect(bodyOf(await next.received)).toHaveLength(text.length)
  })
})
