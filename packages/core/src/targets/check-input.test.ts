import { describe, expect, it } from 'vitest'
import { checkInput as check } from './check-input.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

const checkInput = async (...given: Parameters<typeof check>) => check(...given)

const schemaOf = (validate: StandardSchemaV1['~standard']['validate']) => ({
  input: { '~standard': { version: 1, vendor: 'test', validate } } as StandardSchemaV1,
})

describe('checkInput', () => {
  it('accepts any input without a schema, and returns null for a missing input', async () => {
    expect(await checkInput({}, { a: 1 })).toEqual({ a: 1 })
    expect(await checkInput({}, 0)).toBe(0)
    expect(await checkInput({}, undefined)).toBeNull()
  })

  it('returns the value parsed by a synchronous or asynchronous schema', async () => {
    expect(
      await checkInput(
        schemaOf((value) => ({ value: [value] })),
        1,
      ),
    ).toEqual([1])
    expect(
      await checkInput(
        schemaOf(async (value) => ({ value: [value] })),
        undefined,
      ),
    ).toEqual([undefined])
  })

  it('reports every issue with its path', async () => {
    const schema = schemaOf(() => ({
      issues: [
        { message: 'is missing', path: ['user', { key: 'names' }, 0] },
        { message: 'is no object' },
        { message: 'is odd', path: [] },
      ],
    }))

    await expect(checkInput(schema, 1)).rejects.toMatchObject({
      code: 'invalid-input',
      message: 'input.user.names.0: is missing; input: is no object; input: is odd',
    })
  })
})
