import { createSequenceIds } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCsrfTokens } from './csrf-tokens.ts'
import { PEPPER, testDigest } from './tokens.fixture.ts'

const tokens = createCsrfTokens({ digest: testDigest, ids: createSequenceIds(), key: PEPPER })

describe('createCsrfTokens', () => {
  it('accepts the tokens that it issued for a session, and never issues the same token twice', () => {
    const values = Array.from({ length: 100 }, () => tokens.issue('one'))

    expect(values.every((value) => tokens.verify('one', value, value))).toBe(true)
    expect(new Set(values).size).toBe(100)
  })

  it('rejects a token of another session, of another key, or without a matching cookie', () => {
    const value = tokens.issue('one')
    const others = createCsrfTokens({ digest: testDigest, ids: createSequenceIds(), key: new Uint8Array(32) })

    expect(tokens.verify('two', value, value)).toBe(false)
    expect(others.verify('one', value, value)).toBe(false)
    expect(tokens.verify('one', value, tokens.issue('one'))).toBe(false)
  })

  it('rejects every value that it has not issued', () => {
    fc.assert(fc.property(fc.string(), (text) => !tokens.verify('one', text, text)))
    fc.assert(fc.property(fc.string(), (text) => !tokens.verify('one', `${text}.${text}`, `${text}.${text}`)))
  })
})
