import { describe, expect, it } from 'vitest'
import { toMilliseconds } from './duration.ts'

describe('toMilliseconds', () => {
  it.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['15m', 900_000],
    ['12h', 43_200_000],
    ['1d', 86_400_000],
    ['2w', 1_209_600_000],
    ['1.5h', 5_400_000],
    ['0s', 0],
    [0, 0],
    [1_500, 1_500],
    [0.5, 1],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ])('reads %j as %d ms', (duration, milliseconds) => {
    expect(toMilliseconds(duration)).toBe(milliseconds)
  })

  it.each([
    '',
    '5',
    's',
    '5 s',
    '-5s',
    '+5s',
    '1h30m',
    '5S',
    '5sec',
    '1e3s',
    ' 5s',
    '5s\n',
    -1,
    Number.NaN,
    null,
    true,
    {},
  ])('rejects %j', (given) => {
    expect(toMilliseconds(given)).toBeUndefined()
  })
})
