import { describe, expect, it } from 'vitest'
import { dateIn, timeIn, weekOf, weeksOf } from './month.ts'

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

  it('marks the days around Ramadan, when clocks change in Morocco', () => {
    expect(clockChanges(2025, 'Africa/Casablanca')).toEqual(['2025-02-23', '2025-04-06'])
  })
})

describe('weekOf', () => {
  it('has the seven days from Monday around a date, and moves by weeks', () => {
    const datesOf = (date: string, offset: number) => weekOf(date, offset, 'UTC').map((day) => day.date)

    expect(datesOf('2026-03-29', 0)).toEqual([
      ...['2026-03-23', '2026-03-24', '2026-03-25', '2026-03-26', '2026-03-27', '2026-03-28', '2026-03-29'],
    ])
    expect(datesOf('2026-03-29', 1)[0]).toBe('2026-03-30')
    expect(datesOf('2026-01-01', -1)).toContain('2025-12-22')
    expect(weekOf('2026-03-29', 0, 'Europe/Berlin').map(({ isClockChange }) => isClockChange)).toEqual([
      ...[false, false, false, false, false, false, true],
    ])
  })
})

describe('dateIn and timeIn', () => {
  it('are the date and the time of day in the zone', () => {
    expect(dateIn('Australia/Lord_Howe')('2026-03-29T23:30:00.000Z')).toBe('2026-03-30')
    expect(timeIn('Europe/Berlin')('2026-03-29T01:30:00.000Z')).toBe('03:30')
  })
})
