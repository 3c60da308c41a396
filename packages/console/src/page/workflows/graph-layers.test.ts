import { describe, expect, it } from 'vitest'
import { layersOf } from './graph-layers.ts'

const namesOf = (calls: readonly (readonly [string, number, number | undefined])[]) =>
  layersOf(calls.map(([name, start, end]) => ({ name, start, end }))).map((layer) => layer.map(({ name }) => name))

describe('layersOf', () => {
  it('puts calls that follow each other into layers of their own', () => {
    expect(
      namesOf([
        ['a', 0, 5],
        ['b', 5, 9],
        ['c', 10, undefined],
      ]),
    ).toEqual([['a'], ['b'], ['c']])
  })

  it('puts calls that overlap into one layer, and what follows them into the next', () => {
    expect(
      namesOf([
        ['b1', 5, 20],
        ['a', 0, 5],
        ['b2', 6, 8],
        ['b3', 7, 30],
        ['c', 30, 31],
      ]),
    ).toEqual([['a'], ['b1', 'b2', 'b3'], ['c']])
  })

  it('keeps a call beside one that is still in progress', () => {
    expect(
      namesOf([
        ['a', 0, undefined],
        ['b', 100, undefined],
      ]),
    ).toEqual([['a', 'b']])
  })

  it('has no layer without calls', () => {
    expect(namesOf([])).toEqual([])
  })
})
