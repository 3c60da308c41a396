import { describe, expect, it } from 'vitest'
import { dateIn, timeIn, weeksOf } from './month.ts'

const clockChanges = (year: number, timeZone: string) =>
  Array.from({ length: 12 }, (_, month) => weeksOf(year, month, timeZone).flat())
    .flat()
    .filter(({ isClockChange, isOfMonth }) => isClockChange && isOfMonth)
    .map(({ date }) => date)

describe('weeksOf', () => {
  it('has whole weeks from Monday that cover the month', () => {
    const weeks = weeksOf(2026, 1, 'UTC')

    expect(weeks.every((week) => week.length === 7)).toBe(true)
    expect(weeks[0]?.[0]).toMatchObject({ date: '2026-01-26', isOfMonth: false })
    expect(weeks.flat().filter(({ isOfMonth }) => isOfMonth)).toHaveLength(28)
    expect(weeksOf(2026, 12, 'UTC')[0]?.[4]).toMatchObject({ date: '2027-01-01', isOfMonth: true })
    expect(
      weeksOf(2026, -1, 'UTC')
        .flat()
        .filter(({ isOfMonth }) => isOfMonth),
    ).toHaveLength(31)
  })

  it.each([
    ['Europe/Berlin', ['2026-03-29', '2026-10-25']],
    ['America/New_York', ['2026-03-08', '2026-11-01']],
    ['Australia/Lord_Howe', ['2026-04-05', '2026-10-04']],
    ['UTC', []],
  ])('marks the days on which clocks change in %s', (timeZone, days) => {
    expect(clockChanges(2026, timeZone)).toEqual(days)
  })
})

describe('dateIn and timeIn', () => {
  it('are the date and the time of day in the zone', () => {
    expect(dateIn('Australia/Lord_Howe')('2026-03-29T23:30:00.000Z')).toBe('2026-03-30')
    expect(timeIn('Europe/Berlin')('2026-03-29T01:30:00.000Z')).toBe('03:30')
  })
})
