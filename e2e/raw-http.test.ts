import { describe, expect, it } from 'vitest'
import { parseAnswers } from './raw-http.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

describe('parseAnswers', () => {
  it('ends a chunked body at its last chunk, and not at bytes within a chunk that look like it', () => {
    const body = `${chunk('0\r\n\r\n')}${chunk('more 10\r\n\r\n')}0\r\n\r\n`
    const text = `${HEAD}\r\n\r\n${body}`

    expect(parseAnswers(`${text}HTTP/1.1`)).toEqual({ answers: [{ status: 200, head: HEAD, body }], rest: 'HTTP/1.1' })
  })

  it('waits for the rest of a chunked body that is cut anywhere', () => {
    const text = `${HEAD}\r\n\r\n${chunk('0\r\n\r\n')}0\r\n\r\n`

    for (let length = 0; length < text.length; length++) {
      expect(parseAnswers(text.slice(0, length)).answers).toEqual([])
    }
    expect(parseAnswers(text)).toMatchObject({ answers: [{ status: 200 }], rest: '' })
  })

  it('reports a chunk without a size as an answer without a status', () => {
    expect(parseAnswers(`${HEAD}\r\n\r\nmore\r\n`).answers).toMatchObject([{ status: Number.NaN }])
  })
})
