import { describe, expect, it } from 'vitest'
import { startMembers } from './start-members.ts'

describe('startMembers', () => {
  it('adds only the members whose flags are set', () => {
    expect(startMembers({})).toEqual({})
    expect(startMembers({ priority: -5, delay: '90s' })).toEqual({ priority: -5, delayMs: 90_000 })
  })

  it('sends the start time in UTC', () => {
    expect(startMembers({ startAt: '2027-01-31T09:00+02:00' })).toEqual({ startAt: '2027-01-31T07:00:00.000Z' })
  })

  it.each([
    [{ delay: '90' }, '--delay is not a duration: 90'],
    [{ startAt: 'tomorrow' }, '--start-at is not an ISO-8601 instant: tomorrow'],
    [{ startAt: '2027-01-31T09:00:00' }, '--start-at is not an ISO-8601 instant: 2027-01-31T09:00:00'],
    [{ startAt: '2027-02-30T09:00:00Z' }, '--start-at is not an ISO-8601 instant: 2027-02-30T09:00:00Z'],
    [{ delay: '1h', startAt: '2027-01-31T09:00:00Z' }, '--delay and --start-at cannot be combined'],
  ])('rejects %j', (flags, message) => {
    expect(() => startMembers(flags)).toThrow(message)
  })
})
