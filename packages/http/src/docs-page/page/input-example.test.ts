import { describe, expect, it } from 'vitest'
import { inputExample } from './input-example.ts'

describe('inputExample', () => {
  it('has a value for each required member, and no other member', () => {
    const properties = {
      to: { type: 'string' },
      copies: { type: 'integer' },
      kind: { enum: ['letter', 'mail'] },
      urgent: { type: 'boolean', default: false },
      address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      other: { type: 'string' },
    }
    const required = ['to', 'copies', 'kind', 'urgent', 'address', 'note']

    expect(inputExample({ type: 'object', properties, required })).toEqual({
      ...{ to: 'text', copies: 1, kind: 'letter', urgent: false, address: { city: 'text' }, note: 'text' },
    })
  })

  it('prefers the example of the schema', () => {
    expect(inputExample({ type: 'string', examples: ['a@example.com'] })).toBe('a@example.com')
    expect(inputExample({})).toBeNull()
  })
})
