import { describe, expect, it } from 'vitest'
import { expiryOf } from './expiry.ts'

describe('expiryOf', () => {
  it.each([
    ['30s', 30_000],
    ['15m', 900_000],
    ['12h', 43_200_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
  ])('adds %s to the current time', (expires, ms) => {
    expect(expiryOf({ expires }, 1_000)).toBe(1_000 + ms)
  })

  it('reads an ISO instant, with any offset', () => {
    expect(expiryOf({ expiresAt: '2027-01-31T00:00:00Z' }, 0)).toBe(Date.UTC(2027, 0, 31))
    expect(expiryOf({ expiresAt: '2027-01-31T02:00:00.000+02:00' }, 0)).toBe(Date.UTC(2027, 0, 31))
  })

  it('accepts instants up to the end of the year 9999', () => {
    expect(expiryOf({ expiresAt: '9999-12-31T23:59:59.999Z' }, 0)).toBe(Date.UTC(9999, 11, 31, 23, 59, 59, 999))
    expect(expiryOf({ expiresAt: '2028-02-29T00:00:00Z' }, 0)).toBe(Date.UTC(2028, 1, 29))
    expect(expiryOf({ expires: '400000w' }, 0)).toBe(400_000 * 604_800_000)
  })

  it('is undefined without a flag', () => {
    expect(expiryOf({}, 0)).toBeUndefined()
  })

  it.each([
    [{ expires: '30' }],
    [{ expires: '0d' }],
    [{ expires: '-1d' }],
    [{ expires: '1y' }],
    [{ expiresAt: '2027-01-31' }],
    [{ expiresAt: '2027-13-31T00:00:00Z' }],
    [{ expiresAt: 'tomorrow' }],
    [{ expiresAt: '2027-02-31T00:00:00Z' }],
    [{ expiresAt: '2027-02-29T00:00:00+02:00' }],
    [{ expiresAt: '2027-00-10T00:00:00Z' }],
    [{ expiresAt: '9999-12-31T23:59:59-01:00' }],
    [{ expires: '999999w' }],
    [{ expires: '1d', expiresAt: '2027-01-31T00:00:00Z' }],
  ])('rejects %j', (flags) => {
    expect(() => expiryOf(flags, 0)).toThrow(expect.objectContaining({ kind: 'usage', exit: 'usage' }))
  })
})
