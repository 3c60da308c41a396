import { describe, expect, it } from 'vitest'
import { parsePairs } from './parse-pairs.ts'

describe('parsePairs', () => {
  it.each([
    ['ticket=17', { ticket: '17' }],
    ['ticket=17,tier=gold', { ticket: '17', tier: 'gold' }],
    ['query=a=b', { query: 'a=b' }],
    ['empty=', { empty: '' }],
  ])('reads %s', (text, pairs) => {
    expect(parsePairs('metadata', text)).toEqual(pairs)
  })

  it.each(['', 'ticket', '=17', 'ticket=17,'])('rejects %j and shows the form', (text) => {
    expect(() => parsePairs('metadata', text)).toThrow('--metadata is not a list of pairs')
  })
})
