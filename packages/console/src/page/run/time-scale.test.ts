import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTimeScale } from './time-scale.ts'

describe('createTimeScale', () => {
  it('is linear without long gaps', () => {
    const { position, gaps } = createTimeScale(1_000, 2_000, [{ start: 1_000, end: 2_000 }])

    expect([position(1_000), position(1_500), position(2_000)]).toEqual([0, 0.5, 1])
    expect(gaps).toEqual([])
  })

  it('compresses an hour of waiting to a twentieth of the width', () => {
    const hour = 3_600_000
    const { position, gaps } = createTimeScale(0, hour + 2_000, [
      { start: 0, end: 1_000 },
      { start: hour + 1_000, end: hour + 2_000 },
    ])

    expect(gaps).toEqual([{ from: 1_000, to: hour + 1_000 }])
    expect(position(hour + 1_000) - position(1_000)).toBeCloseTo(0.05)
    expect(position(1_000)).toBeCloseTo(0.475)
  })

  it('has no tick whose label would cover a gap', () => {
    const busy = [
      { start: 0, end: 65 },
      { start: 15_265, end: 15_310 },
    ]
    const { ticks, gaps, position } = createTimeScale(0, 15_310, busy)
    const start = position(gaps[0]?.from ?? 0)

    expect(ticks.map(({ at }) => at)).toEqual(expect.arrayContaining([0, 20, 40]))
    expect(ticks.filter((tick) => tick.position < start && tick.position > start - 0.05)).toEqual([])
  })

  it('never runs backwards, and stays between 0 and 1', () => {
    const interval = fc.tuple(fc.nat(1e7), fc.nat(1e5)).map(([start, length]) => ({ start, end: start + length }))
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 20 }), fc.array(fc.nat(2e7), { maxLength: 20 }), (busy, times) => {
        const { position, ticks } = createTimeScale(0, 1.2e7, busy)
        const positions = times.sort((a, b) => a - b).map(position)
        expect(positions.every((one) => one >= 0 && one <= 1)).toBe(true)
        expect(positions.every((one, at) => at === 0 || one >= (positions[at - 1] ?? 0) - 1e-9)).toBe(true)
        expect(ticks.length).toBeLessThan(14)
      }),
    )
  })
})
