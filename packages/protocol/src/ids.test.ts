import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { Timestamp } from './ids.ts'

describe('Timestamp', () => {
  it('accepts every instant in the format of Date.toISOString', () => {
    const years = { min: new Date('0001-01-01T00:00:00.000Z'), max: new Date('9999-12-31T23:59:59.999Z') }
    fc.assert(
      fc.property(fc.date({ ...years, noInvalidDate: true }), (date) => {
        expect(v.parse(Timestamp, date.toISOString())).toBe(date.toISOString())
      }),
    )
  })

  it.each(['2024-02-29T00:00:00.000Z', '2026-01-01T00:00:00Z', '2026-01-01T01:30:00.000+01:30'])(
    'accepts the instant %s',
    (text) => {
      expect(v.is(Timestamp, text)).toBe(true)
    },
  )

  it.each([
    '2026-02-30T00:00:00.000Z',
    '2026-02-29T00:00:00.000Z',
    '2026-04-31T00:00:00.000Z',
    '2026-02-30T00:00:00.000+05:00',
    '2026-00-10T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
    '2026-01-01T00:00:00.000',
    '2026-01-01T00:00:00.000 +1',
    '2026-01-01',
    'yesterday',
    '',
  ])('rejects %j, which is not an instant', (text) => {
    expect(v.is(Timestamp, text)).toBe(false)
  })

  it('rejects every text that Date cannot parse', () => {
    const text = fc
      .tuple(
        fc.constantFrom('2026-01-31', '2026-02-31', '0000-12-01'),
        fc.constantFrom('T', ' '),
        fc.constantFrom('10:00:00', '10:00:00.1', '10:00:00.123456789'),
        fc.constantFrom('Z', ' +01', '+01', '+0130', ' -01:30', '-23:59'),
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, (one) => {
        fc.pre(v.is(Timestamp, one))
        expect(Date.parse(one)).not.toBeNaN()
      }),
    )
  })
})
