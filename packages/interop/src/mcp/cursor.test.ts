import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Cursor, formatCursor, parseCursor } from './cursor.ts'

const id = fc.oneof(fc.integer(), fc.string({ unit: 'grapheme', maxLength: 20 }))

describe('a cursor', () => {
  it('is read as it was written, for every id that a client can choose', () => {
    const cursor = fc.record({ requestId: id, progressToken: fc.option(id, { nil: undefined }) })
    fc.assert(
      fc.property(cursor, (ids) => {
        const written: Cursor = { runId: 'run_1', frameId: 'e.12/3', ...ids }
        const text = formatCursor(written)
        expect(parseCursor(text)).toEqual(written)
        expect(text).toMatch(/^[\x21-\x7e]+$/)
      }),
    )
  })

  it.each([
    '',
    'run_1',
    'run_1~i1~~',
    '~i1~~e.1/1',
    'run_1~x~~e.1/1',
    'run_1~i1~~e.1/1~',
    'run_1~s%~~e.1/1',
    'run_1~i~~e.1/1',
  ])('does not accept %j', (text) => {
    expect(parseCursor(text)).toBeUndefined()
  })
})
