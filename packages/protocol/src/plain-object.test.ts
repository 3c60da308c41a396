import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { isPlainObject, record, strictObject } from './plain-object.ts'

class Instance {}

const NOT_PLAIN = [[], [1], new Map(), new Set(), new Date(0), new Instance(), /x/, () => 1, null, undefined, 'x', 1]

describe('isPlainObject', () => {
  it('accepts a JSON object', () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => isPlainObject(value)))
    expect(isPlainObject(Object.create(null))).toBe(true)
  })

  it.each(NOT_PLAIN.map((value) => [value]))('rejects %o', (value) => {
    expect(isPlainObject(value)).toBe(false)
  })
})

describe.each([
  ['strictObject', strictObject({ a: v.optional(v.number(), 1) }), { a: 2 }],
  ['record', record(v.string(), v.number()), { b: 2 }],
])('%s', (_, schema, plain) => {
  const Nested = v.object({ within: schema })

  it('accepts a plain object', () => {
    expect(v.parse(schema, plain)).toEqual(plain)
    expect(v.parse(Nested, { within: plain })).toEqual({ within: plain })
  })

  it.each(NOT_PLAIN.map((value) => [value]))('rejects %o and reports its path', (value) => {
    const { issues } = v.safeParse(Nested, { within: value })

    expect(issues?.map((issue) => [v.getDotPath(issue), issue.expected])).toEqual([['within', 'Object']])
  })

  it('rejects an array when it is the first schema of a pipe', () => {
    const Piped = v.pipe(schema, v.metadata({ note: 'x' }))

    expect(v.is(Piped, plain)).toBe(true)
    expect(v.is(Piped, [])).toBe(false)
  })
})

describe('strictObject', () => {
  it('fills in defaults and rejects unknown members', () => {
    const Schema = strictObject({ a: v.optional(v.number(), 1) })

    expect(v.parse(Schema, {})).toEqual({ a: 1 })
    expect(v.is(Schema, { b: 1 })).toBe(false)
  })
})
