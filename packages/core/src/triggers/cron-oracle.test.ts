import { createCronSchedule } from '@perdure/platform-node'
import type { EpochMs } from '@perdure/ports'
import { Cron } from 'croner'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Window, walkOccurrences } from './trigger-oracle.fixture.ts'

const DAY = 86_400_000
const schedule = createCronSchedule()
beforeAll(schedule.ready)

/** A window of a day and a half around an instant. */
const around = (timezone: string, edge: string): Window => {
  const at = Date.parse(edge)
  return { timezone, from: (at - 0.75 * DAY) as EpochMs, until: (at + 0.75 * DAY) as EpochMs }
}

const WINDOWS: readonly Window[] = [
  around('America/New_York', '2025-03-09T07:00:00Z'),
  around('America/New_York', '2025-11-02T06:00:00Z'),
  around('Europe/London', '2025-03-30T01:00:00Z'),
  around('Europe/London', '2025-10-26T01:00:00Z'),
  around('Australia/Lord_Howe', '2025-10-04T15:30:00Z'),
  around('Australia/Lord_Howe', '2025-04-05T15:00:00Z'),
  around('Asia/Kathmandu', '2024-02-29T12:00:00Z'),
  around('UTC', '2024-02-29T12:00:00Z'),
  around('Pacific/Apia', '2011-12-30T10:00:00Z'),
]

const LIMITS = [
  [0, 59],
  [0, 23],
  [1, 28],
  [1, 12],
  [0, 6],
] as const

const itemOf = ([min, max]: readonly [number, number]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min, max }).map(String) },
    fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 1, max: Math.min(30, max) }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }), fc.integer({ min: 1, max: Math.min(9, max) }))
      .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
  )

/** A field of a cron rule. Most fields are `*`, so that the windows contain occurrences. */
const fieldOf = (limits: readonly [number, number], open: number): fc.Arbitrary<string> =>
  fc.oneof({ weight: open, arbitrary: fc.constant('*') }, { weight: 4, arbitrary: itemOf(limits) })

const crons: fc.Arbitrary<string> = fc
  .tuple(...LIMITS.map((limits, index) => fieldOf(limits, [1, 3, 12, 20, 12][index] ?? 1)))
  .map((fields) => fields.join(' '))

const occurrencesIn = (cron: string, { timezone, from, until }: Window): readonly EpochMs[] => {
  const found: EpochMs[] = []
  let at = schedule.next({ cron, timezone }, (from - 1) as EpochMs)
  while (at !== undefined && at < until) {
    found.push(at)
    at = schedule.next({ cron, timezone }, at)
  }
  return found
}

describe('createCronSchedule', () => {
  it('finds the same occurrences as a scan of every minute', () => {
    fc.assert(
      fc.property(crons, fc.constantFrom(...WINDOWS), fc.nat(), (cron, window, pick) => {
        expect(schedule.problemOf({ cron, timezone: window.timezone })).toBeUndefined()
        const scanned = walkOccurrences(cron, window)
        // Compares the whole window when it has few occurrences, otherwise a single step.
        if (scanned.length <= 8) {
          expect(occurrencesIn(cron, window)).toEqual(scanned)
          return
        }
        const index = pick % (scanned.length - 1)
        const from = scanned[index] as EpochMs
        expect(schedule.next({ cron, timezone: window.timezone }, from)).toBe(scanned[index + 1])
      }),
      { numRuns: Number(process.env.CRON_EXPRESSIONS ?? 6_000), seed: 1 },
    )
  })

  it('agrees with croner in time zones without clock changes', () => {
    const ZONES = ['UTC', 'Asia/Kathmandu', 'Asia/Tokyo']
    const starts = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2030, 0, 1) })
    fc.assert(
      fc.property(crons, fc.constantFrom(...ZONES), starts, (cron, timezone, start) => {
        const expected = new Cron(cron, { timezone, paused: true }).nextRuns(3, new Date(start))

        let at: EpochMs | undefined = start as EpochMs
        const actual = expected.map(() => {
          at = at === undefined ? undefined : schedule.next({ cron, timezone }, at)
          return at
        })
        expect(actual).toEqual(expected.map((date) => date.getTime()))
      }),
      { numRuns: 2_000, seed: 1 },
    )
  })

  it('either rejects a random text with a reason or finds its next occurrence', () => {
    const pieces = fc.constantFrom(
      ...'0123456789*/,-  LWH#?@abcMONJAN\t\n.+xX'.split(''),
      'MON',
      '1-2',
      '*/5',
      '59',
      '2',
    )
    const texts = fc.oneof(
      fc.array(pieces, { maxLength: 24 }).map((parts) => parts.join('')),
      fc.tuple(crons, fc.nat(30), pieces).map(([cron, at, piece]) => cron.slice(0, at) + piece + cron.slice(at)),
      fc.string(),
    )
    fc.assert(
      fc.property(texts, (cron) => {
        const problem = schedule.problemOf({ cron, timezone: 'UTC' })
        if (problem !== undefined) {
          expect(problem).toMatch(/^cron: ./)
          return
        }
        const next = schedule.next({ cron, timezone: 'UTC' }, Date.UTC(2025, 0, 1) as EpochMs)
        expect(next).toBeGreaterThan(Date.UTC(2025, 0, 1))
      }),
      { numRuns: 20_000, seed: 1 },
    )
  })
})
