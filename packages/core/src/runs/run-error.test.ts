import { AppError } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toRunError } from './run-error.ts'

const unprintable = {
  toString() {
    throw new Error('no text')
  },
}
const trapped = {
  get message() {
    throw new Error('no message')
  },
}

describe('toRunError', () => {
  it.each([
    ['an error', new Error('broken'), { code: 'run-failed', message: 'broken' }],
    ['a code', Object.assign(new Error('no'), { code: 'my-code', kind: 'k' }), { code: 'my-code', message: 'no' }],
    ['a kind', Object.assign(new Error('no'), { kind: 'rate-limit' }), { kind: 'rate-limit', message: 'no' }],
    ['one of ours', new AppError('agent-busy', { message: 'm' }), { code: 'agent-busy', message: 'm' }],
    ['a number as code', { code: 7, message: 'm' }, { code: 'run-failed', message: 'm' }],
    ['an empty code', { code: '', kind: '', message: 'm' }, { code: 'run-failed', message: 'm' }],
    ['a long code', { code: 'c'.repeat(129), kind: 'k', message: 'm' }, { kind: 'k', message: 'm' }],
    ['a code of 128 characters', { code: 'c'.repeat(128), message: 'm' }, { code: 'c'.repeat(128), message: 'm' }],
    ['no message', { code: 'c' }, { code: 'c', message: '[object Object]' }],
    ['an empty message', new RangeError(''), { code: 'run-failed', message: 'RangeError' }],
    ['a text', 'just text', { code: 'run-failed', message: 'just text' }],
    ['an empty text', '', { code: 'run-failed', message: '' }],
    ['a number', 7, { code: 'run-failed', message: '7' }],
    ['a symbol', Symbol('s'), { code: 'run-failed', message: 'Symbol(s)' }],
    ['null', null, { code: 'run-failed', message: 'null' }],
    ['nothing', undefined, { code: 'run-failed', message: 'undefined' }],
  ])('reads what was thrown: %s', (_, thrown, error) => {
    expect(toRunError(thrown)).toEqual(error)
  })

  it.each([
    ['has no prototype', Object.create(null)],
    ['cannot be printed', unprintable],
    ['fails when it is read', trapped],
  ])('finds words for what %s', (_, thrown) => {
    expect(toRunError(thrown)).toMatchObject({ code: 'run-failed', message: expect.any(String) })
  })

  it('cuts a long message and marks the cut', () => {
    expect(toRunError(new Error('x'.repeat(4_096))).message).toBe('x'.repeat(4_096))
    expect(toRunError(new Error('x'.repeat(4_097))).message).toBe(`${'x'.repeat(4_095)}…`)
  })

  it('has an identifier and a bounded text for whatever is thrown', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true }), (thrown) => {
        const { code, kind, message } = toRunError(thrown)

        expect([code, kind].filter((id) => id !== undefined)).toHaveLength(1)
        expect(message.length).toBeLessThanOrEqual(4_096)
      }),
    )
  })
})
