import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatEventId, parseEventId } from './event-id.ts'

describe('parseEventId', () => {
  it('parses what formatEventId returns', () => {
    const cursor = fc.record({
      epoch: fc.stringMatching(/^[0-9a-zA-Z]{1,64}$/),
      position: fc.integer({ min: 0, max: 999_999_999_999_999 }),
    })
    fc.assert(
      fc.property(cursor, (one) => {
        expect(parseEventId(formatEventId(one))).toEqual(one)
      }),
    )
  })

  it.each([
    [''],
    ['7'],
    ['.7'],
    ['e1.'],
    ['e1.-1'],
    ['e1.1.1'],
    ['e1.0x1'],
    ['e1.1e3'],
    ['e-1.1'],
    [' e1.1'],
    ['e1.1\n'],
    ['e1.1000000000000000'],
    [`${'e'.repeat(65)}.1`],
  ])('returns undefined for %j', (text) => {
    expect(parseEventId(text)).toBeUndefined()
  })

  it('parses the largest position exactly', () => {
    expect(parseEventId('e1.999999999999999')).toEqual({ epoch: 'e1', position: 999_999_999_999_999 })
  })
})
