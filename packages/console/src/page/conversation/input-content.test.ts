import { describe, expect, it } from 'vitest'
import { contentOf, previewOf, toSentParts } from './input-content.ts'

describe('contentOf', () => {
  it('reads the parts of a chat, a text, and a value of another form', () => {
    const file = { type: 'file', url: '/v1/files/file_1', mediaType: 'image/png', name: 'a.png' }
    const messages = [
      { role: 'assistant', content: [{ type: 'text', text: 'not sent' }] },
      { role: 'user', content: [{ type: 'text', text: 'hi' }, file, { type: 'data', data: 7 }] },
    ]

    expect(contentOf({ text: 'hi', messages })).toEqual([
      { kind: 'text', text: 'hi' },
      { kind: 'file', url: '/v1/files/file_1', mediaType: 'image/png', name: 'a.png' },
      { kind: 'value', value: 7 },
    ])
    expect(contentOf('hello')).toEqual([{ kind: 'text', text: 'hello' }])
    expect(contentOf({ question: 'why?' })).toEqual([{ kind: 'text', text: 'why?' }])
    expect(contentOf({ n: 1 })).toEqual([{ kind: 'value', value: { n: 1 } }])
    expect(contentOf({ text: 'a', more: 1 })).toEqual([{ kind: 'value', value: { text: 'a', more: 1 } }])
    expect(contentOf({ colour: 'red' })).toEqual([{ kind: 'value', value: { colour: 'red' } }])
    expect(contentOf(undefined)).toEqual([])
  })

  it('gives the parts back in the form in which a client sends them', () => {
    const parts = toSentParts([
      { kind: 'text', text: 'hi' },
      { kind: 'file', url: '/v1/files/file_1', mediaType: 'image/png', name: 'a.png' },
    ])

    expect(parts).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'file', url: '/v1/files/file_1', mediaType: 'image/png', filename: 'a.png' },
    ])
  })
})

describe('previewOf', () => {
  it('is one short line', () => {
    expect(previewOf('two\n\nlines')).toBe('two lines')
    expect(previewOf({ n: 1 })).toBe('{"n":1}')
    expect(previewOf(null)).toBe('')
    expect(previewOf('x'.repeat(500))).toHaveLength(121)
  })
})
