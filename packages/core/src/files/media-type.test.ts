import { describe, expect, it } from 'vitest'
import { correctedTypeOf, mediaTypeOf } from './media-type.ts'

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))
const SAMPLES = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff\xe0'],
  ['image/gif', 'GIF89a'],
  ['image/webp', 'RIFF\0\0\0\0WEBP'],
  ['image/avif', '\0\0\0\x20ftypavif'],
  ['application/pdf', '%PDF-1.7'],
  ['audio/wav', 'RIFF\0\0\0\0WAVE'],
  ['video/mp4', '\0\0\0\x20ftypisom'],
] as const

describe('mediaTypeOf', () => {
  it.each(SAMPLES)('recognizes %s by its first bytes', (mediaType, start) => {
    expect(mediaTypeOf(undefined, bytes(start))).toBe(mediaType)
    expect(mediaTypeOf(mediaType.toUpperCase(), bytes(start))).toBe(mediaType)
    expect(mediaTypeOf(`${mediaType}; charset=binary`, bytes(start))).toBe(mediaType)
  })

  it('keeps a declared type that has no signature of its own', () => {
    expect(mediaTypeOf('text/csv', bytes('a,b'))).toBe('text/csv')
    expect(mediaTypeOf('application/vnd.ms-excel', bytes('PK\x03\x04'))).toBe('application/vnd.ms-excel')
    expect(mediaTypeOf('audio/mpeg', bytes('\xff\xfb'))).toBe('audio/mpeg')
  })

  it.each([
    ['image/jpeg', '\x89PNG\r\n\x1a\n'],
    ['image/png', '<svg>'],
    ['text/plain', '%PDF-1.7'],
    ['application/json', '\x89PNG\r\n\x1a\n'],
  ])('refuses content that is not %s', (declared, start) => {
    expect(() => mediaTypeOf(declared, bytes(start))).toThrow(
      expect.objectContaining({ code: 'unsupported-media-type' }),
    )
  })

  it('refuses a text that is not a media type', () => {
    for (const declared of ['png', 'image/', 'image/p ng', '*/*', 'image/x\r\nSet-Cookie: a']) {
      expect(() => mediaTypeOf(declared, bytes('')), declared).toThrow(
        expect.objectContaining({ code: 'validation-failed' }),
      )
    }
  })
})

describe('correctedTypeOf', () => {
  it('replaces a type that the content contradicts, and keeps any other', () => {
    expect(correctedTypeOf('image/png', bytes('\xff\xd8\xff'))).toBe('image/jpeg')
    expect(correctedTypeOf('image/jpg', bytes('????'))).toBe('image/jpeg')
    expect(correctedTypeOf('*/*', bytes('????'))).toBe('application/octet-stream')
    expect(correctedTypeOf(undefined, bytes('????'))).toBe('application/octet-stream')
  })
})
