import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { sampleInput } from './sample-input.ts'

const USUAL = [{ text: 'hello' }, 'hello', {}]

/** A Standard Schema that a library other than valibot would provide. */
const foreign = (accepts: (input: unknown) => boolean, jsonSchema?: object) => ({
  '~standard': {
    version: 1 as const,
    vendor: 'other',
    validate: async (value: unknown) => (accepts(value) ? { value } : { issues: [{ message: 'no' }] }),
    ...(jsonSchema === undefined ? {} : { jsonSchema: { input: () => jsonSchema, output: () => jsonSchema } }),
  },
})

describe('sampleInput', () => {
  it.each([
    [v.object({ ticketId: v.string() }), { ticketId: 'ticketId' }],
    [v.object({ to: v.pipe(v.string(), v.email()), copies: v.optional(v.number()) }), { to: 'ann@example.com' }],
    [v.object({ amount: v.pipe(v.number(), v.minValue(40)), kind: v.picklist(['a', 'b']) }), { amount: 40, kind: 'a' }],
    [v.object({ tags: v.array(v.string()), ok: v.boolean() }), { tags: ['tags'], ok: true }],
    [v.variant('type', [v.object({ type: v.literal('x'), n: v.pipe(v.number(), v.integer()) })]), { type: 'x', n: 1 }],
    [v.nullable(v.object({ id: v.string() })), { id: 'id' }],
    [v.string(), 'text'],
  ])('builds an input that a valibot schema accepts: %#', async (schema, input) => {
    expect(await sampleInput(schema, USUAL)).toEqual({ input })
    expect(v.is(schema as v.GenericSchema, input)).toBe(true)
  })

  it('builds an input from the JSON Schema of any other library', async () => {
    const jsonSchema = {
      type: 'object',
      required: ['order'],
      properties: { order: { $ref: '#/$defs/order' } },
      $defs: {
        order: { type: 'object', required: ['id'], properties: { id: { type: 'string', examples: ['A-17'] } } },
      },
    }

    expect(
      await sampleInput(
        foreign(() => true, jsonSchema),
        USUAL,
      ),
    ).toEqual({ input: { order: { id: 'A-17' } } })
  })

  it('ends on a recursive schema', async () => {
    const jsonSchema = {
      $ref: '#/$defs/node',
      $defs: { node: { type: 'object', required: ['n'], properties: { n: { $ref: '#/$defs/node' } } } },
    }

    expect(
      await sampleInput(
        foreign(() => true, jsonSchema),
        USUAL,
      ),
    ).toEqual({ input: expect.any(Object) })
  })

  it('picks the first usual input that a schema without a JSON Schema accepts', async () => {
    expect(
      await sampleInput(
        foreign((input) => input === 'hello'),
        USUAL,
      ),
    ).toEqual({ input: 'hello' })
  })

  it('returns no input when the schema accepts none of them', async () => {
    const strict = v.object({ code: v.pipe(v.string(), v.regex(/^\d{4}$/)) })

    expect(await sampleInput(strict, USUAL)).toEqual({ input: undefined })
    const throws = () => {
      throw new Error('no')
    }
    expect(await sampleInput(foreign(throws), USUAL)).toEqual({ input: undefined })
  })

  it('returns the first usual input without a schema', async () => {
    expect(await sampleInput(undefined, USUAL)).toEqual({ input: { text: 'hello' } })
  })
})
