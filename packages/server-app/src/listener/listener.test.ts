import { describe, expect, it } from 'vitest'
import { CLOSE, dial, echo, expectRefusal, fields, HOST, open, parse, send } from './listener.fixture.ts'

describe('listen', () => {
  it.each([
    ['no host', ['GET / HTTP/1.1']],
    ['an empty host', ['GET / HTTP/1.1', 'Host:']],
    ['two words as host', ['GET / HTTP/1.1', 'Host: a b']],
    ['a host with a user', ['GET / HTTP/1.1', 'Host: x@y']],
    ['a host with a path', ['GET / HTTP/1.1', 'Host: x@y/z']],
    ['a port that does not exist', ['GET / HTTP/1.1', 'Host: a:99999']],
    ['an address that does not exist', ['GET / HTTP/1.1', 'Host: 999.999.999.999']],
    ['an address that normalizes to another', ['GET / HTTP/1.1', 'Host: 0X7F.1']],
    ['a host beyond ASCII', ['GET / HTTP/1.1', 'Host: b\u00fccher']],
    ['an invalid address in brackets', ['GET / HTTP/1.1', 'Host: [::g]']],
    ['an empty host in HTTP/1.0', ['GET / HTTP/1.0', 'Host:']],
    ['a transfer coding in HTTP/1.0', ['POST / HTTP/1.0', HOST, 'Transfer-Encoding: chunked']],
    ['* as its target', ['OPTIONS * HTTP/1.1', HOST]],
    ['a target of another scheme', ['GET ftp://127.0.0.1/ HTTP/1.1', HOST]],
    ['a malformed URL', ['GET http://[/ HTTP/1.1', HOST]],
    ['a URL with credentials', ['POST http://u:p@127.0.0.1/ HTTP/1.1', HOST, 'Content-Length: 0']],
    ['a backslash in the path', ['GET /\\evil/ HTTP/1.1', HOST]],
    ['a backslash in a URL', ['GET http://127.0.0.1\\evil/ HTTP/1.1', HOST]],
    ['an unknown expectation', ['GET / HTTP/1.1', HOST, 'Expect: weird']],
    ['the method CONNECT', ['CONNECT 127.0.0.1:80 HTTP/1.1', HOST]],
    ['a request line that is not HTTP', ['nonsense']],
    ['a malformed length', ['POST / HTTP/1.1', HOST, 'Content-Length: x']],
  ])('rejects a request with %s', async (_, lines) => {
    expectRefusal(await send(await open(), lines), [400, 'validation-failed'])
  })

  it('sends no body when it rejects a HEAD request', async () => {
    const { status, headers, body } = await send(await open(), ['HEAD /\\evil HTTP/1.1', HOST])

    expect([status, body]).toEqual([400, ''])
    expect(headers.has('x-request-id')).toBe(true)
  })

  it.each([
    [['GET /v1?q=\\ HTTP/1.1', 'Host: Example.COM'], 'http://example.com/v1?q=\\'],
    [['GET /v1 HTTP/1.1', 'Host: [::1]:8080'], 'http://[::1]:8080/v1'],
    [['GET /v1 HTTP/1.1', 'Host: my_host.internal:1'], 'http://my_host.internal:1/v1'],
    [['GET http://elsewhere.example/v1 HTTP/1.1', HOST], 'http://elsewhere.example/v1'],
    [['GET /v1 HTTP/1.0'], 'http://127.0.0.1/v1'],
  ])('passes the normalized URL of %j to the app', async (lines, url) => {
    const { status, body } = await send(await open(), [...lines, CLOSE])

    expect([status, JSON.parse(body).url]).toEqual([200, url])
  })

  it('returns the request id that the client sent when it rejects a request', async () => {
    const refused = await send(await open(), ['OPTIONS * HTTP/1.1', HOST, 'X-Request-Id: mine.1'])

    expect(refused.headers.get('x-request-id')).toBe('mine.1')
    expectRefusal(refused, [400, 'validation-failed'])
  })

  it('accepts 100 header fields and rejects more', async () => {
    const listener = await open()

    expect((await send(listener, ['GET / HTTP/1.1', HOST, CLOSE, ...fields(98)])).status).toBe(200)
    expectRefusal(await send(listener, ['GET / HTTP/1.1', HOST, CLOSE, ...fields(99)]), [431, 'headers-too-large'])
    expectRefusal(await send(listener, ['GET / HTTP/1.1', ...fields(1_500), HOST]), [431, 'headers-too-large'])
  })

  it('rejects a header block larger than 16 KiB', async () => {
    const refused = await send(await open(), ['GET / HTTP/1.1', HOST, `X-Large: ${'x'.repeat(17_000)}`])

    expectRefusal(refused, [431, 'headers-too-large'])
  })

  it('rejects a malformed chunked body while reading the body', async () => {
    const listener = await open()

    const refused = await send(listener, ['POST / HTTP/1.1', HOST, 'Transfer-Encoding: chunked'], 'nonsense\r\n')

    expectRefusal(refused, [400, 'validation-failed'])
  })

  it('answers Expect: 100-continue with 100 Continue before the final answer', async () => {
    const { socket, received } = dial(await open())
    socket.write(['POST / HTTP/1.1', HOST, CLOSE, 'Content-Length: 2', 'Expect: 100-continue', '', 'hi'].join('\r\n'))

    const text = await received

    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({ sent: 'hi' })
  })

  it('closes even if the client of a rejected CONNECT request keeps its end of the connection open', async () => {
    const listener = await open()
    const { socket, soFar } = dial(listener)
    socket.write(['CONNECT a:80 HTTP/1.1', HOST, '', ''].join('\r\n'))
    await expect.poll(soFar).toContain('validation-failed')

    await expect(listener.close(0)).resolves.toBeUndefined()
  })

  it('answers the requests of a connection in order', async () => {
    const { socket, received } = dial(await open())
    socket.write(['GET /1 HTTP/1.1', HOST, '', 'GET /2 HTTP/1.1', HOST, CLOSE, '', ''].join('\r\n'))

    expect([...(await received).matchAll(/"url":"([^"]*)"/g)].map(([, url]) => url)).toEqual([
      'http://127.0.0.1/1',
      'http://127.0.0.1/2',
    ])
  })

  it('answers an unexpected exception with an error envelope that omits the message of the exception', async () => {
    const listener = await open(() => Promise.reject(new Error('hunter2')))

    const refused = await send(listener, ['GET / HTTP/1.1', HOST, CLOSE])

    expectRefusal(refused, [500, 'internal-error'])
    expect(refused.body).not.toContain('hunter2')
  })
})

describe('the request timeout', () => {
  const impatient = { headersTimeoutMs: 200, requestTimeoutMs: 200 }
  const timedOut: [number, string] = [408, 'request-timeout']

  it('answers 408 to clients that never finish their headers, while other clients are served', async () => {
    const listener = await open(echo, impatient)
    const slow = Array.from({ length: 20 }, () => dial(listener))
    for (const { socket } of slow) socket.write(`POST / HTTP/1.1\r\n${HOST}\r\nX-Slow: `)

    const answer = await send(listener, ['POST / HTTP/1.1', HOST, 'Content-Length: 2', CLOSE], 'ok')

    expect(answer.status).toBe(200)
    for (const { received } of slow) expectRefusal(parse(await received), timedOut)
  })

  it('answers 408 to clients that never finish their body, while other clients are served', async () => {
    const listener = await open(echo, impatient)
    const slow = Array.from({ length: 20 }, () => dial(listener))
    for (const { socket } of slow) socket.write(`POST / HTTP/1.1\r\n${HOST}\r\nContent-Length: 100\r\n\r\nx`)

    const answer = await send(listener, ['POST / HTTP/1.1', HOST, 'Content-Length: 2', CLOSE], 'ok')

    expect(answer.status).toBe(200)
    for (const { received } of slow) expectRefusal(parse(await received), timedOut)
  })

  it('does not apply while the client waits for its answer', async () => {
    const later = Promise.withResolvers<Response>()
    const listener = await open(() => later.promise, impatient)
    const attacker = dial(listener)
    attacker.socket.write(`GET / HTTP/1.1\r\n`)
    const answering = send(listener, ['GET / HTTP/1.1', HOST, CLOSE])

    // When the attacker gets its 408, the timeouts have also elapsed for the client that waits for its answer.
    expectRefusal(parse(await attacker.received), timedOut)
    later.resolve(new Response('done'))

    expect((await answering).status).toBe(200)
  })
})

describe('the header limit', () => {
  it('applies to the number and to the total size of header fields', async () => {
    const listener = await open(echo, { maxHeaders: 5, headerLimitBytes: 1_024 })

    const answers = [
      await send(listener, ['GET / HTTP/1.1', HOST, CLOSE, ...fields(3)]),
      await send(listener, ['GET / HTTP/1.1', HOST, CLOSE, ...fields(4)]),
      await send(listener, ['GET / HTTP/1.1', HOST, CLOSE, `X-Long: ${'x'.repeat(1_024)}`]),
    ]

    expect(answers.map(({ status }) => status)).toEqual([200, 431, 431])
  })
})

describe('close', () => {
  const LONG_MS = 600_000
  const REQUEST = `GET / HTTP/1.1\r\n${HOST}\r\n\r\n`

  it('waits for a pending answer, but not for another request on the same connection', async () => {
    const asked = Promise.withResolvers<void>()
    const later = Promise.withResolvers<Response>()
    const listener = await open(() => {
      asked.resolve()
      return later.promise
    })
    const { socket, received } = dial(listener)
    socket.write(REQUEST)
    await asked.promise

    const closed = listener.close(LONG_MS)
    later.resolve(new Response('done'))

    expect(await received).toContain('done')
    await closed
  })

  it('ends a connection after its next answer, even if the client keeps sending requests', async () => {
    const asked: (() => void)[] = []
    const listener = await open(() => new Promise((resolve) => asked.push(() => resolve(new Response('done')))))
    const { socket, received } = dial(listener)
    socket.write(REQUEST)
    await expect.poll(() => asked.length).toBe(1)

    const closed = listener.close(LONG_MS)
    socket.write(REQUEST)
    asked[0]?.()
    await expect.poll(() => asked.length).toBe(2)
    asked[1]?.()

    expect(await received).toMatch(/connection: close/i)
    await closed
  })
})
