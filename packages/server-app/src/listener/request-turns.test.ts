import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { dial, HOST, open } from './listener.fixture.ts'
import { MAX_IN_PROGRESS, MAX_WAITING } from './request-turns.ts'

const get = (path: number | string) => `GET /${path} HTTP/1.1\r\n${HOST}\r\n\r\n`
const many = (count: number) => Array.from({ length: count }, (_, index) => get(index)).join('')
const numbersIn = (text: string) => [...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number))
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

/** A server that counts the requests it has started, and answers each with its number and `size` more bytes. */
async function openCounting(size = 0) {
  const started: string[] = []
  const filler = 'x'.repeat(size)
  const listener = await open(async (request) => {
    const { pathname } = new URL(request.url)
    started.push(pathname)
    const text = `<${pathname.slice(1)}>${filler}`
    return { status: 200, headers: { 'Content-Length': String(text.length) }, text }
  })
  return { listener, started }
}

describe('requests that a client sends without reading', () => {
  it('are started a few at a time', async () => {
    const { listener, started } = await openCounting(8 * 1_048_576)
    const socket = connect(listener.port, '127.0.0.1').on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    socket.write(many(500))
    await expect.poll(() => started.length).toBeGreaterThanOrEqual(MAX_IN_PROGRESS)

    const other = dial(listener)
    other.socket.write(get('other'))
    await expect.poll(other.soFar).toContain('<other>')

    // The kernel takes one answer at most.
    expect(started.length).toBeLessThanOrEqual(MAX_IN_PROGRESS + 2)
  })

  it('are all answered in order once the client reads', async () => {
    const { listener } = await openCounting(10_000)
    const { socket, soFar } = dial(listener)
    socket.pause().write(many(MAX_WAITING))
    socket.resume()

    await expect.poll(() => numbersIn(soFar()).length, { timeout: 10_000 }).toBe(MAX_WAITING)
    expect(numbersIn(soFar())).toEqual(upTo(MAX_WAITING))
    socket.write(get(MAX_WAITING))
    await expect.poll(() => numbersIn(soFar()).at(-1)).toBe(MAX_WAITING)
  })

  it('end the connection after the pending answers when too many wait', async () => {
    const held = Promise.withResolvers<void>()
    const listener = await open(async (request) => {
      await held.promise
      return new Response(`<${new URL(request.url).pathname.slice(1)}>`)
    })
    const { socket, received } = dial(listener)
    socket.write(
      Array.from({ length: 3 * MAX_WAITING }, (_, index) => `GET /${index} HTTP/1.1\r\nHost:a\r\n\r\n`).join(''),
    )
    setTimeout(held.resolve, 200)

    const numbers = numbersIn(await received)

    expect(numbers).toEqual(upTo(numbers.length))
    expect(numbers.length).toBe(MAX_IN_PROGRESS + MAX_WAITING)
  })

  it('are not started after the client has disconnected', async () => {
    const held = Promise.withResolvers<void>()
    const started: string[] = []
    const listener = await open(async (request) => {
      started.push(request.url)
      await held.promise
      return new Response('done')
    })
    const { socket } = dial(listener)
    socket.write(many(100))
    await expect.poll(() => started.length).toBe(MAX_IN_PROGRESS)
    socket.destroy()
    const other = dial(listener)
    other.socket.write(get('other'))
    await expect.poll(() => started.length).toBe(MAX_IN_PROGRESS + 1)
    held.resolve()
    await expect.poll(other.soFar).toContain('done')

    expect(started.length).toBe(MAX_IN_PROGRESS + 1)
  })
})
