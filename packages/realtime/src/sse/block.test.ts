import { describe, expect, it } from 'vitest'
import { formatBlock } from './block.ts'

describe('formatBlock', () => {
  it('writes each field on its own line and ends with a blank line', () => {
    expect(formatBlock({ retryMs: 1_000, id: 'e1.7', event: 'text.delta', data: '{"a":1}' })).toBe(
      'retry: 1000\nid: e1.7\nevent: text.delta\ndata: {"a":1}\n\n',
    )
  })

  it('writes empty data as an empty data line', () => {
    expect(formatBlock({ id: 'e1.0', data: '' })).toBe('id: e1.0\ndata:\n\n')
  })

  it('keeps line breaks of the data inside the block', () => {
    expect(formatBlock({ data: 'a\nb\r\nc\rd' })).toBe('data: a\ndata: b\ndata: c\ndata: d\n\n')
  })
})
