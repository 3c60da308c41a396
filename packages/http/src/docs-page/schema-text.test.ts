import { describe, expect, it } from 'vitest'
import { schemaText, shortSchemaText } from './schema-text.ts'

describe('schemaText', () => {
  it('marks optional members with ? and appends limits as comments', () => {
    const text = schemaText({
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 128 },
        env: { enum: ['live', 'test'] },
        'x-y': { type: 'integer', minimum: 1, default: 3 },
      },
    })

    expect(text).toBe(
      '{\n  name: string  // 1 to 128 characters\n  env?: "live" | "test"\n  "x-y"?: integer  // at least 1, default 3\n}',
    )
  })

  it('puts the description of a member before its limits', () => {
    const name = { type: 'string', maxLength: 9, description: 'Name of the token.' }

    expect(schemaText({ type: 'object', properties: { name } })).toBe(
      '{\n  name?: string  // Name of the token. at most 9 characters\n}',
    )
  })

  it.each([
    [{}, 'any'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }, { type: 'string' }] }, 'string | null'],
    [{ oneOf: [{ const: 'a' }, { const: null }] }, '"a" | null'],
    [{ allOf: [{ type: 'string' }, { type: 'number' }] }, 'string & number'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { enum: [1, 2] } }, '(1 | 2)[]'],
    [{ type: 'object', properties: {} }, '{}'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, '{\n  [name]: string\n}'],
    [{ $ref: '#/$defs/Tree' }, 'Tree'],
  ])('formats %j', (schema, expected) => {
    expect(schemaText(schema)).toBe(expected)
  })

  it('indents nested objects', () => {
    const inner = { type: 'object', required: ['b'], properties: { b: { type: 'boolean' } } }

    expect(schemaText({ type: 'object', required: ['a'], properties: { a: inner } })).toBe(
      '{\n  a: {\n    b: boolean\n  }\n}',
    )
  })
})

describe('shortSchemaText', () => {
  it('formats type and limits on one line', () => {
    expect(shortSchemaText({ type: 'string', pattern: '^a$' })).toBe('string, matches ^a$')
    expect(shortSchemaText({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: 200 })).toBe(
      'integer, at most 200',
    )
  })
})
