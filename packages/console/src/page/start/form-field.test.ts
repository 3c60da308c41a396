import { describe, expect, it } from 'vitest'
import { exampleOf, fieldsOf, initialText, inputOf, type JsonSchema } from './form-field.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: {
    item: { type: 'string' },
    count: { type: 'integer', default: 2 },
    isGift: { type: 'boolean' },
    size: { enum: ['small', 1] },
    tags: { type: 'array' },
  },
  required: ['item'],
}
const fields = fieldsOf(schema) ?? []

describe('the fields of a schema', () => {
  it('have a kind each, and start with the default', () => {
    expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ['item', 'text', true],
      ['count', 'integer', false],
      ['isGift', 'boolean', false],
      ['size', 'choice', false],
      ['tags', 'json', false],
    ])
    expect(fields.map(initialText)).toEqual(['', '2', '', '', ''])
  })

  it.each([undefined, { type: 'string' }, { type: 'object' }, { anyOf: [schema] }])('do not exist for %j', (other) => {
    expect(fieldsOf(other)).toBeUndefined()
  })
})

describe('inputOf', () => {
  it('converts the texts to values and leaves out what is empty', () => {
    const texts = { item: '12', count: '3', isGift: 'true', size: '1', tags: '["a"]' }

    expect(inputOf(fields, texts)).toEqual({ item: '12', count: 3, isGift: true, size: 1, tags: ['a'] })
    expect(inputOf(fields, { item: 'tea' })).toEqual({ item: 'tea' })
  })

  it.each([
    [{}, 'item is required'],
    [{ item: 'tea', count: 'two' }, 'count must be a number'],
    [{ item: 'tea', tags: 'a' }, 'tags must be JSON: put a text in double quotes'],
  ])('names what is wrong with %j', (texts, message) => {
    expect(() => inputOf(fields, texts)).toThrow(message)
  })
})

describe('exampleOf', () => {
  it('has the required members, and prefers what the schema gives', () => {
    expect(exampleOf(schema)).toEqual({ item: '' })
    expect(exampleOf({ anyOf: [{ type: 'number' }] })).toBe(0)
    expect(exampleOf({ type: 'string', examples: ['tea'] })).toBe('tea')
    expect(exampleOf(undefined)).toEqual({})
  })
})
