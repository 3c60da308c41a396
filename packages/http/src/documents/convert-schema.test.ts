import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { convertSchema } from './convert-schema.ts'

const $schema = 'https://json-schema.org/draft/2020-12/schema'
const Length = v.pipe(
  v.object({ text: v.string() }),
  v.transform(({ text }) => text.length),
)

describe('convertSchema', () => {
  it('describes what a schema accepts and what it returns', () => {
    expect(convertSchema(Length, 'input')).toMatchObject({ type: 'object', required: ['text'] })
    expect(convertSchema(v.pipe(Length, v.minValue(1), v.number()), 'output')).toMatchObject({ type: 'number' })
  })

  it('describes the result of a transformation as any value, unless the type stays the same', () => {
    expect(convertSchema(Length, 'output')).toEqual({ $schema })
    expect(convertSchema(v.pipe(v.string(), v.trim(), v.minLength(2)), 'output')).toMatchObject({
      ...{ type: 'string', minLength: 2 },
    })
    expect(convertSchema(v.pipe(v.string(), v.trim(), v.transform(Number)), 'input')).toMatchObject({ type: 'string' })
  })

  it('describes what JSON Schema cannot express as any value', () => {
    expect(convertSchema(v.object({ at: v.date(), id: v.string() }), 'input')).toMatchObject({
      ...{ properties: { at: {}, id: { type: 'string' } }, required: ['at', 'id'] },
    })
  })

  it('returns nothing for a schema of another library', () => {
    const foreign = { '~standard': { version: 1, vendor: 'other', validate: () => ({ value: 1 }) } } as const

    expect(convertSchema(foreign, 'input')).toBeUndefined()
  })
})
