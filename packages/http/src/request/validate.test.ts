import { perdureError } from '@perdure/ports'
import { type GenericSchema, looseObject, object, strictObject, string } from 'valibot'
import { describe, expect, it } from 'vitest'
import { validate } from './validate.ts'

describe('validate', () => {
  it.each<[string, GenericSchema]>([
    ['strict', strictObject({ id: string() })],
    ['loose', looseObject({ id: string() })],
    ['plain', object({ id: string() })],
  ])('names a missing member of a %s object', (_, schema) => {
    const refused = perdureError('validation-failed', { message: 'body.id: is missing' })

    expect(() => validate(schema, {}, 'body')).toThrow(refused)
  })
})
