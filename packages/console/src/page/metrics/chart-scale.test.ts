import { describe, expect, it } from 'vitest'
import { linesOf, roundTop, valueText } from './chart-scale.ts'

describe('roundTop', () => {
  it.each([
    [0, 1],
    [Number.NaN, 1],
    [0.013, 0.02],
    [1, 1],
    [3, 5],
    [51, 100],
    [7_200, 10_000],
  ])('of %d is %d', (highest, top) => {
    expect(roundTop(highest)).toBeCloseTo(top, 10)
  })
})

describe('linesOf', () => {
  const box = { width: 100, height: 10, top: 5, length: 5 }

  it('puts the newest value at the right edge, and the top value at the top', () => {
    expect(linesOf([0, 5], box)).toEqual(['75,10 100,0'])
  })

  it('interrupts the line where nothing was measured', () => {
    expect(linesOf([1, null, 2, 3], box)).toEqual(['25,8 25,8', '75,6 100,4'])
    expect(linesOf([null, null], box)).toEqual([])
  })
})

describe('valueText', () => {
  it('uses the unit in the name of the metric', () => {
    expect(valueText('svc_storage_wal_size_bytes', 1_048_576)).toBe('1 MiB')
    expect(valueText('svc_run_duration_seconds', 0.25)).toBe('250 ms')
    expect(valueText('svc_run_duration_seconds', 15)).toBe('15 s')
    expect(valueText('svc_queued_runs', 3)).toBe('3')
    expect(valueText('svc_provider_tokens_total', 12_345)).toBe('12.3 k')
  })
})
