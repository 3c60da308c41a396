import { describe, expect, it } from 'vitest'
import { checkJson } from './check-json.ts'

const SCHEMA = {
  type: 'object',
  properties: { amount: { type: 'number', maximum: 50 }, to: { type: 'string', format: 'email' } },
  required: ['amount'],
  additionalProperties: false,
}

describe('checkJson', () => {
  it('returns nothing for a value that matches', async () => {
    expect(await checkJson(SCHEMA, { amount: 40, to: 'mia@example.com' })).toBeUndefined()
    expect(await checkJson({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'null' }, null)).toBeUndefined()
  })

  it.each([
    [{ amount: 51 }, /amount must be <= 50/],
    [{ amount: '40' }, /amount must be number/],
    [{}, /must have required property 'amount'/],
    [{ amount: 1, to: 'mia' }, /to must match format "email"/],
    [{ amount: 1, note: '' }, /must NOT have additional properties/],
    [null, /must be object/],
  ])('names what does not match in %j', async (value, problem) => {
    expect(await checkJson(SCHEMA, value)).toMatch(problem)
  })

  it('checks two schemas with one $id apart', async () => {
    expect(await checkJson({ $id: 'same', type: 'string' }, 'a')).toBeUndefined()
    expect(await checkJson({ $id: 'same', type: 'number' }, 'a')).toMatch(/must be number/)
  })

  it('rejects a schema that cannot be used', async () => {
    await expect(checkJson({ type: 'nothing' }, 1)).rejects.toThrow()
  })
})
