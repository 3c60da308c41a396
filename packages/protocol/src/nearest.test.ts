import { describe, expect, it } from 'vitest'
import { nearest } from './nearest.ts'

describe('nearest', () => {
  it.each([
    ['server.prot', ['server.host', 'server.port'], 'server.port'],
    ['run list', ['runs list', 'runs tail'], 'runs list'],
    ['prod', ['prod', 'pros'], 'prod'],
  ])('proposes the closest known word for %s', (word, known, expected) => {
    expect(nearest(word, known)).toBe(expected)
  })

  it('proposes nothing when no known word is close', () => {
    expect(nearest('colour', ['server', 'auth'])).toBeUndefined()
    expect(nearest('x', [])).toBeUndefined()
  })
})
