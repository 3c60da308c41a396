import { describe, expect, it } from 'vitest'
import { dereference, type OpenApiView, resolve } from './open-api-view.ts'

const schemas = {
  Status: { type: 'string', enum: ['on', 'off'], description: 'Status of a lamp.' },
  Lamp: { type: 'object', properties: { status: { $ref: '#/components/schemas/Status', description: 'Its status.' } } },
}
const document: Pick<OpenApiView, 'components'> = {
  components: { schemas, parameters: {}, responses: { Error404: { description: 'Not found.' } }, examples: {} },
}

describe('dereference', () => {
  it('replaces references at any depth and keeps the description beside a reference', () => {
    const status = { type: 'string', enum: ['on', 'off'], description: 'Its status.' }

    expect(dereference({ type: 'array', items: { $ref: '#/components/schemas/Lamp' } }, document)).toEqual({
      type: 'array',
      items: { type: 'object', properties: { status } },
    })
    expect(dereference({ anyOf: [{ $ref: '#/components/schemas/Status' }, { type: 'null' }] }, document)).toEqual({
      anyOf: [schemas.Status, { type: 'null' }],
    })
  })
})

describe('resolve', () => {
  it('returns the component, or throws when the document lacks it', () => {
    const own = { description: 'Found.' }

    expect(resolve('responses', own, document)).toBe(own)
    expect(resolve('responses', { $ref: '#/components/responses/Error404' }, document).description).toBe('Not found.')
    expect(() => resolve('responses', { $ref: '#/components/responses/Error500' }, document)).toThrow('Error500')
  })
})
