import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { StreamAnswer } from '@perdure/ports'
import { textSinkContract } from '@perdure/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CLOSE, dial, HOST, open } from './listener.fixture.ts'

const answerOf = (stream: StreamAnswer['stream']): StreamAnswer => ({
  ...{ status: 200, stream },
  headers: { 'Content-Type': 'text/event-stream; charset=utf-8' },
})

async function follow(sent: ClientRequest) {
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const parts = response.setEncoding('utf8')[Symbol.asyncIterator]()
  return {
    async next() {
      const { done, value } = await parts.next()
      return done === true ? undefined : (value as string)
    },
    leave: () => void response.destroy(),
  }
}

textSinkContract({
  name: 'a connection',
  async open(stream) {
    const { port } = await open(async () => answerOf(stream))
    const sent = request({ port, host: '127.0.0.1', agent: false })
    onTestFinished(() => void sent.destroy())
    return follow(sent)
  },
})

describe('an event stream', () => {
  const GET = `GET / HTTP/1.1\r\n${HOST}\r\n\r\n`

  it('is sent in one chunk per text', async () => {
    const listener = await open(async () =>
      answerOf({
        pipeTo(sink) {
          sink.write('data: é\n\n')
          sink.write('data: 2\n\n')
          sink.end()
        },
        cancel: () => undefined,
      }),
    )
    const { socket, received } = dial(listener)
    socket.setEncoding('utf8').write(`GET / HTTP/1.1\r\n${HOST}\r\n${CLOSE}\r\n\r\n`)

    const [, body] = (await received).split(/\r\n\r\n(.*)/s)
    expect(body).toBe('a\r\ndata: é\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n')
  })

  it('has no chunks for a client of HTTP/1.0', async () => {
    const listener = await open(async () =>
      answerOf({
        pipeTo(sink) {
          sink.write('data: 1\n\n')
          sink.end()
        },
        cancel: () => undefined,
      }),
    )
    const { socket, received } = dial(listener)
    socket.write('GET / HTTP/1.0\r\n\r\n')

    expect(await received).toMatch(/\r\n\r\ndata: 1\n\n$/)
  })

  it('comes after the answers to earlier requests of its connection', async () => {
    const held = Promise.withResolvers<void>()
    let requests = 0
    const listener = await open(async () => {
      requests++
      if (requests === 1) {
        await held.promise
        return { status: 200, headers: { 'Content-Length': '5' }, text: 'first' }
      }
      return answerOf({
        pipeTo(sink) {
          sink.write('data: 1\n\n')
          sink.write('data: 2\n\n')
          setImmediate(() => held.resolve())
          sink.onDrain(() => undefined)
          setTimeout(() => {
            sink.write('data: 3\n\n')
            sink.end()
          }, 50)
        },
        cancel: () => undefined,
      })
    })
    const { socket, soFar } = dial(listener)
    socket.write(GET + GET)

    await expect.poll(soFar).toMatch(/0\r\n\r\n$/)
    const [first = '', second = ''] = soFar().split(/first/)
    expect(first).toContain('HTTP/1.1 200')
    expect(second.split('\r\n\r\n')[1]).toContain('data: 1')
    expect([...second.matchAll(/data: (\d)/g)].map(([, n]) => n)).toEqual(['1', '2', '3'])
  })
})
