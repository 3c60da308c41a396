import { describe, expect, it } from 'vitest'
import { parseHeaders } from './parse-headers.ts'

describe('parseHeaders', () => {
  it.each([
    ['{"Authorization":"Bearer a","X-B":""}', { Authorization: 'Bearer a', 'X-B': '' }],
    ['Authorization: Bearer a:b', { Authorization: 'Bearer a:b' }],
    ['X-Key:  spaced  ', { 'X-Key': 'spaced' }],
  ])('parses %s', (secret, headers) => {
    expect(parseHeaders(secret)).toEqual(headers)
  })

  it.each([
    ...['', '{}', '[]', '{', '{"a":1}', '{"a b":"c"}', '{"a":"b\\nc"}', 'no header', 'a: b\nc: d', 'a b: c'],
    ...['{"a":null}', 'a: b\r\nc: d', ': x', '{"":"x"}'],
  ])('rejects %j without echoing it', (secret) => {
    expect(() => parseHeaders(secret)).toThrow('headersRef')
  })
})
