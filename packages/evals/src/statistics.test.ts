import { describe, expect, it } from 'vitest'
import { compareProportions, fisherExact, wilsonInterval, zTest } from './statistics.ts'

const of = (passed: number, trials: number) => ({ passed, trials })

describe('wilsonInterval', () => {
  // With z² = 3.841459: for 8 of 10, center = (0.8 + 0.192073) / 1.384146 = 0.716740,
  // half = 1.959964 / 1.384146 · √(0.016 + 0.009604) = 0.226578.
  it.each([
    [of(8, 10), 0.490162, 0.943318],
    [of(0, 10), 0, 0.277533], // high = z² / (10 + z²)
    [of(10, 10), 0.722467, 1], // low = 10 / (10 + z²)
    [of(1, 2), 0.094531, 0.905469], // half = 1.959964 / 2.920730 · √(0.125 + 0.240091)
    [of(0, 0), 0, 1],
  ])('is the known interval of %o', (proportion, low, high) => {
    const interval = wilsonInterval(proportion)
    expect(interval.low).toBeCloseTo(low, 5)
    expect(interval.high).toBeCloseTo(high, 5)
  })
})

describe('fisherExact', () => {
  // By hand from binomials: of 8 cups, 4 with milk first. 3 of 4 right: (16 + 1 + 16 + 1) / 70; 4 of 4: 2 / 70.
  it.each([
    [of(3, 4), of(1, 4), 34 / 70],
    [of(4, 4), of(0, 4), 2 / 70],
    [of(1, 1), of(0, 1), 1],
    // C(5,5)·C(5,0)/C(10,5) twice
    [of(5, 5), of(0, 5), 2 / 252],
    // 10 of 10 against 7 of 10: 2 · C(10,10)·C(10,7)/C(20,17) = 2 · 120 / 1140
    [of(10, 10), of(7, 10), 240 / 1140],
    [of(4, 4), of(4, 4), 1],
  ])('is the known probability of %o and %o', (one, other, p) => {
    expect(fisherExact(one, other)).toBeCloseTo(p, 10)
    expect(fisherExact(other, one)).toBeCloseTo(p, 10)
  })
})

describe('zTest', () => {
  // 80 of 100 against 60 of 100: pooled 0.7, z = 0.2 / √(0.21 · 0.02) = 3.086067, p = 0.002028.
  // 50 of 100 against 45 of 100: pooled 0.475, z = 0.05 / √(0.249375 · 0.02) = 0.707994, p = 0.478949.
  it.each([
    [of(80, 100), of(60, 100), 0.002028],
    [of(50, 100), of(45, 100), 0.478949],
    [of(100, 100), of(100, 100), 1],
  ])('is the known probability of %o and %o', (one, other, p) => {
    expect(zTest(one, other)).toBeCloseTo(p, 5)
  })
})

describe('compareProportions', () => {
  it('uses the exact test for small samples and the z test for large ones', () => {
    expect(compareProportions(of(4, 4), of(0, 4))).toMatchObject({ verdict: 'worse', test: 'fisher' })
    expect(compareProportions(of(60, 100), of(80, 100))).toMatchObject({ verdict: 'better', test: 'z' })
  })

  it('does not take noise for a change', () => {
    expect(compareProportions(of(9, 10), of(8, 10)).verdict).toBe('same')
    expect(compareProportions(of(1, 1), of(0, 1)).verdict).toBe('same')
    expect(compareProportions(of(0, 0), of(3, 3))).toMatchObject({ verdict: 'same', p: 1 })
  })
})
