import { describe, expect, it } from 'vitest'
import { passRateOf, rateText } from './pass-rate.ts'

describe('rateText', () => {
  // By hand for 9 of 9: low = 1 / (1 + 1.96² / 9) = 0.7008; 3 of 9 and 0 of 3 from the same formula.
  it.each([
    [9, 9, '100.0 % (70.1 – 100.0)'],
    [3, 9, '33.3 % (12.1 – 64.6)'],
    [0, 3, '0.0 % (0.0 – 56.1)'],
    [0, 0, '–'],
  ])('shows %i of %i with the interval of Wilson', (passed, count, text) => {
    expect(rateText({ passed, count })).toBe(text)
  })
})

it('counts what passed', () => {
  expect(passRateOf([true, false, true])).toEqual({ passed: 2, count: 3 })
})
