import { describe, expect, it } from 'vitest'
import { exampleOf } from './example-of.ts'

describe('exampleOf', () => {
  it('includes the required members of an object, or the first member if none is required', () => {
    const properties = { name: { type: 'string' }, scopes: { type: 'array', items: { type: 'string' } }, env: {} }

    expect(exampleOf({ properties, required: ['name', 'scopes'] })).toEqual({ name: '', scopes: [''] })
    expect(exampleOf({ properties })).toEqual({ name: '' })
  })

  it.each([
    [{}, { text: 'hello' }],
    [{ default: 3, type: 'integer' }, 3],
    [{ const: 'cron' }, 'cron'],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
    [{ type: ['null', 'string'] }, null],
    [{ type: 'integer', minimum: 1 }, 1],
    [{ type: 'number' }, 0],
    [{ type: 'array' }, []],
    [{ type: 'object' }, {}],
  ])('creates an example for %j: %j', (schema, expected) => {
    expect(exampleOf(schema)).toEqual(expected)
  })
})
