import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createOpenRequests } from './open-requests.ts'
import { answerParserError } from './parser-error.ts'

const answers = { flush: () => undefined }
const noneOpen = { answers, openRequests: createOpenRequests() }

function createSocket() {
  const written: string[] = []
  const socket = new Duplex({
    read: () => {},
    write(chunk, _, done) {
      written.push(String(chunk))
      done()
    },
  })
  return { socket, text: () => written.join('') }
}

const failure = (code?: string) => Object.assign(new Error('parser'), { code })

describe('answerParserError', () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout\r\n', 'request-timeout'],
    ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large\r\n', 'headers-too-large'],
    ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request\r\n', 'validation-failed'],
    [undefined, 'HTTP/1.1 400 Bad Request\r\n', 'validation-failed'],
  ])('answers parser error %s with the error envelope and ends the connection', (code, statusLine, error) => {
    const { socket, text } = createSocket()

    answerParserError(failure(code), socket, noneOpen)

    const [head = '', body = ''] = text().split('\r\n\r\n')
    const { requestId, ...envelope } = JSON.parse(body)
    expect(text().startsWith(statusLine)).toBe(true)
    expect(envelope).toEqual({ error, message: expect.stringMatching(/./) })
    expect(head.split('\r\n')).toContain(`X-Request-Id: ${requestId}`)
    expect(head).not.toMatch(/^ratelimit/im)
    expect(socket.writableEnded).toBe(true)
  })

  it.each([false, true])('destroys a reset connection without an answer (earlier request open: %s)', (isOccupied) => {
    const { socket, text } = createSocket()

    const openRequests = { isOccupied: () => isOccupied, endAfterAnswers: () => undefined }

    answerParserError(failure('ECONNRESET'), socket, { answers, openRequests })

    expect([text(), socket.destroyed]).toEqual(['', true])
  })

  it('writes nothing while an earlier request is open, and ends the connection after its answer', () => {
    const { socket, text } = createSocket()
    const ending: Duplex[] = []
    const openRequests = { isOccupied: () => true, endAfterAnswers: (one: Duplex) => void ending.push(one) }

    answerParserError(failure('HPE_INVALID_METHOD'), socket, { answers, openRequests })

    expect([text(), socket.destroyed, ending]).toEqual(['', false, [socket]])
  })

  it('destroys a connection that it has already ended, without a second answer', () => {
    const { socket, text } = createSocket()
    answerParserError(failure(), socket, noneOpen)
    const answer = text()

    answerParserError(failure(), socket, noneOpen)

    expect([text(), socket.destroyed]).toEqual([answer, true])
  })
})
