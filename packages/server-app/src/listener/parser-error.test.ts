import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { answerParserError } from './parser-error.ts'
import { createUnanswered } from './unanswered.ts'

const nothingOwed = { ...createUnanswered(), isOwedOn: () => false }

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
  ])('answers %s with the envelope and ends', (code, statusLine, error) => {
    const { socket, text } = createSocket()

    answerParserError(failure(code), socket, nothingOwed)

    const [head = '', body = ''] = text().split('\r\n\r\n')
    const { requestId, ...envelope } = JSON.parse(body)
    expect(text().startsWith(statusLine)).toBe(true)
    expect(envelope).toEqual({ error, message: expect.stringMatching(/./) })
    expect(head.split('\r\n')).toContain(`X-Request-Id: ${requestId}`)
    expect(head).not.toMatch(/^ratelimit/im)
    expect(socket.writableEnded).toBe(true)
  })

  it.each([false, true])('only cuts a connection that was reset, whether an answer is owed on it: %s', (isOwed) => {
    const { socket, text } = createSocket()

    answerParserError(failure('ECONNRESET'), socket, { ...nothingOwed, isOwedOn: () => isOwed })

    expect([text(), socket.destroyed]).toEqual(['', true])
  })

  it('leaves a connection that owes an earlier answer to that, and lets it end then', () => {
    const { socket, text } = createSocket()
    const ending: Duplex[] = []
    const unanswered = { ...nothingOwed, isOwedOn: () => true, endAfterAnswers: (one: Duplex) => void ending.push(one) }

    answerParserError(failure('HPE_INVALID_METHOD'), socket, unanswered)

    expect([text(), socket.destroyed, ending]).toEqual(['', false, [socket]])
  })

  it('only cuts a connection that it has ended', () => {
    const { socket, text } = createSocket()
    answerParserError(failure(), socket, nothingOwed)
    const answer = text()

    answerParserError(failure(), socket, nothingOwed)

    expect([text(), socket.destroyed]).toEqual([answer, true])
  })
})
