import type { EpochMs } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isHttpDate, parseHttpDate } from './http-date.ts'

const at = (iso: string) => Date.parse(iso) as EpochMs
const NOW = at('2025-06-01T00:00:00Z')

describe('parseHttpDate', () => {
  it.each([['Sun, 06 Nov 1994 08:49:37 GMT'], ['Sunday, 06-Nov-94 08:49:37 GMT'], ['Sun Nov  6 08:49:37 1994']])(
    'parses %s',
    (text) => {
      expect(parseHttpDate(text, NOW)).toBe(at('1994-11-06T08:49:37Z'))
      expect(isHttpDate(text)).toBe(true)
    },
  )

  it('parses any time, to the second, from year 1000 to year 9999', () => {
    const seconds = fc.integer({ min: at('1000-01-01T00:00:00Z') / 1_000, max: at('9999-12-31T23:59:59Z') / 1_000 })
    fc.assert(
      fc.property(seconds, (second) => {
        expect(parseHttpDate(new Date(second * 1_000).toUTCString(), NOW)).toBe(second * 1_000)
      }),
    )
  })

  it('parses a two-digit day in every form', () => {
    const expected = at('1994-11-16T08:49:37Z')

    expect(parseHttpDate('Wednesday, 16-Nov-94 08:49:37 GMT', NOW)).toBe(expected)
    expect(parseHttpDate('Wed Nov 16 08:49:37 1994', NOW)).toBe(expected)
  })

  it('parses a leap second as the first second of the next minute', () => {
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT', NOW)).toBe(at('2017-01-01T00:00:00Z'))
  })

  it.each([
    ['75', '2075'],
    ['76', '1976'],
    ['25', '2025'],
    ['00', '2000'],
  ])('parses the two-digit year %s as %s in 2025', (year, fullYear) => {
    expect(parseHttpDate(`Friday, 01-Jan-${year} 00:00:00 GMT`, NOW)).toBe(at(`${fullYear}-01-01T00:00:00Z`))
  })

  it.each([
    [''],
    ['120'],
    ['tomorrow'],
    ['2025-06-01T00:00:00Z'],
    ['Sun, 06 Nov 1994 08:49:37 CET'],
    ['Sun, 06 Nov 1994 08:49:37'],
    ['sun, 06 nov 1994 08:49:37 gmt'],
    ['Sun, 32 Nov 1994 08:49:37 GMT'],
    ['Sun, 06 Nov 1994 24:00:00 GMT'],
    ['Sun, 06 Nov 1994 08:60:00 GMT'],
    ['Sun, 06 Nov 1994 08:49:61 GMT'],
    ['Sun Nov 06 08:49:37 1994'],
    [' Sun, 06 Nov 1994 08:49:37 GMT'],
  ])('rejects %j', (text) => {
    expect(parseHttpDate(text, NOW)).toBeUndefined()
    expect(isHttpDate(text)).toBe(false)
  })
})
