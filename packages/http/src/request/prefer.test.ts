import { describe, expect, it } from 'vitest'
import { parsePrefer } from './prefer.ts'

describe('parsePrefer', () => {
  it('waits for the outcome by default', () => {
    expect(parsePrefer(undefined)).toEqual({ answer: 'outcome', waitMs: undefined, applied: '' })
  })

  it.each([
    ['respond-async', { answer: 'accepted', waitMs: undefined, applied: 'respond-async' }],
    ['wait=10', { answer: 'outcome', waitMs: 10_000, applied: 'wait=10' }],
    ['wait=0', { answer: 'outcome', waitMs: 0, applied: 'wait=0' }],
    ['wait=601', { answer: 'outcome', waitMs: 600_000, applied: 'wait=600' }],
    ['respond-async, wait=5', { answer: 'outcome', waitMs: 5_000, applied: 'respond-async, wait=5' }],
    ['Wait="7"; x=1, RESPOND-ASYNC', { answer: 'outcome', waitMs: 7_000, applied: 'respond-async, wait=7' }],
    ['wait=1, wait=9', { answer: 'outcome', waitMs: 1_000, applied: 'wait=1' }],
  ])('parses %s', (header, expected) => {
    expect(parsePrefer(header)).toEqual(expected)
  })

  it.each(['wait', 'wait=', 'wait=-1', 'wait=1.5', 'wait=soon', 'respond-async=yes', ',;=', 'return=minimal'])(
    'ignores %s',
    (header) => {
      expect(parsePrefer(header)).toEqual({ answer: 'outcome', waitMs: undefined, applied: '' })
    },
  )
})
