import type { EpochMs } from '@perdure/ports'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCronSchedule } from './cron-schedule.ts'

const schedule = createCronSchedule()
beforeAll(schedule.ready)

function times(cron: string, timezone: string, { after, count }: { readonly after: string; readonly count: number }) {
  const found: string[] = []
  let at: EpochMs | undefined = Date.parse(after) as EpochMs
  while (at !== undefined && found.length < count) {
    at = schedule.next({ cron, timezone }, at)
    if (at !== undefined) found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'))
  }
  return found
}

describe('a cron schedule', () => {
  it.each([
    [
      'once, right after a gap',
      '30 2 * * *',
      'America/New_York',
      '2025-03-08T12:00Z',
      ['2025-03-09T07:00Z', '2025-03-10T06:30Z'],
    ],
    [
      'once for all times in a gap',
      '*/15 2 * * *',
      'America/New_York',
      '2025-03-08T12:00Z',
      ['2025-03-09T07:00Z', '2025-03-10T06:00Z'],
    ],
    [
      'at the first occurrence of a repeated hour',
      '30 1 * * *',
      'America/New_York',
      '2025-11-01T12:00Z',
      ['2025-11-02T05:30Z', '2025-11-03T06:30Z'],
    ],
    [
      'only at the first occurrence of a repeated hour, even for an hourly rule',
      '0 * * * *',
      'America/New_York',
      '2025-11-02T04:30Z',
      ['2025-11-02T05:00Z', '2025-11-02T07:00Z'],
    ],
    [
      'after a gap of half an hour',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2025-10-04T00:00Z',
      ['2025-10-04T15:30Z', '2025-10-05T15:15Z'],
    ],
    [
      'at the first occurrence of a repeated half hour',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2025-04-05T00:00Z',
      ['2025-04-05T14:45Z', '2025-04-06T15:15Z'],
    ],
    [
      'after a day that the time zone skipped',
      '0 12 30 12 *',
      'Pacific/Apia',
      '2011-12-01T00:00Z',
      ['2011-12-30T10:00Z', '2012-12-29T22:00Z'],
    ],
    ['on every 29 February', '0 0 29 2 *', 'UTC', '2024-02-29T00:00Z', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
    [
      'across a century year without a leap day',
      '0 0 29 2 *',
      'UTC',
      '2096-02-29T00:00Z',
      ['2104-02-29T00:00Z', '2108-02-29T00:00Z'],
    ],
    [
      'on either day when day of month and day of week are both restricted',
      '0 0 13 * 5',
      'UTC',
      '2025-06-01T00:00Z',
      ['2025-06-06T00:00Z', '2025-06-13T00:00Z', '2025-06-20T00:00Z'],
    ],
    ['on Sunday when it is written as 7', '0 0 * * 7', 'UTC', '2025-06-01T00:00Z', ['2025-06-08T00:00Z']],
    [
      'at local times of a zone whose offset includes minutes',
      '0 9 * * MON-FRI',
      'Asia/Kathmandu',
      '2025-06-06T04:00Z',
      ['2025-06-09T03:15Z'],
    ],
  ] as const)('occurs %s: %s in %s', (_, cron, timezone, after, expected) => {
    expect(times(cron, timezone, { after, count: expected.length })).toEqual(expected)
  })

  it('throws before ready() was awaited', () => {
    const rule = { cron: '0 0 * * *', timezone: 'UTC' }

    expect(() => createCronSchedule().next(rule, 0 as EpochMs)).toThrow('ready')
  })

  it('reads six fields with seconds first', () => {
    const next = schedule.next(
      { cron: '*/20 59 23 31 12 *', timezone: 'UTC' },
      Date.UTC(2025, 11, 31, 23, 59, 20) as EpochMs,
    )

    expect(next).toBe(Date.UTC(2025, 11, 31, 23, 59, 40))
  })

  it('excludes the instant at which the search starts', () => {
    const at = Date.UTC(2025, 0, 1) as EpochMs

    expect(schedule.next({ cron: '0 0 * * *', timezone: 'UTC' }, at)).toBe(at + 86_400_000)
    expect(schedule.next({ cron: '0 0 * * *', timezone: 'UTC' }, (at - 1) as EpochMs)).toBe(at)
  })

  it.each([
    ['', 'five fields'],
    ['* * * *', 'five fields'],
    ['* * * * * * *', 'five fields'],
    ['@daily', 'five fields'],
    ['*/5x * * * *', '"*/5x"'],
    ['1-2-3 * * * *', '"1-2-3"'],
    ['*/1e3 * * * *', '"*/1e3"'],
    ['001 * * * *', '"001"'],
    ['1.5 * * * *', '"1.5"'],
    ['-1 * * * *', '"-1"'],
    ['* * L * *', '"L"'],
    ['* * * * 1#2', '"1#2"'],
    ['H * * * *', '"H"'],
    ['60 * * * *', 'the field minute, "60", must be within 0 to 59'],
    ['* 24 * * *', 'the field hour, "24", must be within 0 to 23'],
    ['* * 0 * *', 'the field day of month, "0", must be within 1 to 31'],
    ['* * * 13 *', 'the field month, "13", must be within 1 to 12'],
    ['* * * * 8', 'the field day of week, "8", must be within 0 to 7'],
    ['99 * * * * *', 'the field second, "99", must be within 0 to 59'],
    ['5-1 * * * *', 'the field minute, "5-1", is invalid'],
    ['*/0 * * * *', 'the field minute, "*/0", '],
    ['0 0 30 2 *', 'day of month'],
    ['0 0 31 4,6 *', 'day of month'],
    [`${'1,'.repeat(200)}1 * * * *`, '256 characters'],
  ])('rejects %j and names the problem', (cron, part) => {
    const problem = schedule.problemOf({ cron, timezone: 'UTC' })

    expect(problem).toMatch(/^cron: /)
    expect(problem).toContain(part)
    expect(() => schedule.next({ cron, timezone: 'UTC' }, 0 as EpochMs)).toThrow()
  })

  it.each(['Nowhere/Land', '+01:00', '', 'Europe/London; drop', '__proto__'])(
    'rejects the time zone %j',
    (timezone) => {
      expect(schedule.problemOf({ cron: '* * * * *', timezone })).toContain(JSON.stringify(timezone))
    },
  )
})
