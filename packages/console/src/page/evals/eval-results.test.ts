import { describe, expect, it } from 'vitest'
import { changeOf, compareCases, readTrials, type StoredTrial } from './eval-results.ts'

const START = '{"kind":"start","format":"perdure-eval-1","at":"2026-03-02T09:15:00.000Z"}'
const trial = (name: string, pass: boolean, number = 1): StoredTrial => ({
  ...{ eval: 'refunds', case: name, trial: number, pass, text: 'hi', tools: [], scores: [] },
})
const lineOf = (one: StoredTrial) => JSON.stringify({ kind: 'trial', ...one })

describe('readTrials', () => {
  it('reads the trials, and skips answers of judges and a line that was cut', () => {
    const text = [START, lineOf(trial('late', true)), '{"kind":"answer","key":"k"}', '{"kind":"tri'].join('\n')

    expect(readTrials(text)).toMatchObject([{ case: 'late', pass: true }])
  })

  it.each(['', 'hello', '{"kind":"trial"}', '{"kind":"start","format":"other"}'])('refuses %j', (text) => {
    expect(() => readTrials(text)).toThrow('this is not a results file of perdure eval')
  })
})

it('compares the cases of two files, the worse ones first', () => {
  const before = [trial('a', true), trial('b', true), trial('b', true, 2), trial('gone', true)]
  const after = [trial('a', true), trial('b', false), trial('b', true, 2), trial('new', false)]

  const compared = compareCases(before, after)

  expect(compared.map((one) => [one.case, changeOf(one)])).toEqual([
    ['b', -0.5],
    ['a', 0],
    ['gone', 0],
    ['new', 0],
  ])
})
