import { createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { requestIdOf } from './request-id.ts'

describe('requestIdOf', () => {
  it.each(['a', 'A.b-c_1', 'x'.repeat(128)])('keeps %s', (sent) => {
    expect(requestIdOf(sent, createSequenceIds())).toBe(sent)
  })

  it.each([undefined, undefined, '', 'has space', 'é', 'a\r\nb', 'x'.repeat(129)])(
    'replaces %j with a new id',
    (sent) => {
      expect(requestIdOf(sent, createSequenceIds())).toMatch(/^req_[0-9a-f]{32}$/)
    },
  )
})
