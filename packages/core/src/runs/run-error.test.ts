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
    [
      'an error with a code',
      Object.assign(new Error('no'), { code: 'my-code', kind: 'k' }),
      { code: 'my-code', message: 'no' },
    ],
    [
      'an error with a kind',
      Object.assign(new Error('no'), { kind: 'rate-limit' }),
      { kind: 'rate-limit', message: 'no' },
    ],
    ['an AppError', new AppError('agent-busy', { message: 'm' }), { code: 'agent-busy', message: 'm' }],
    ['an object with a numeric code', { code: 7, message: 'm' }, { code: 'run-failed', message: 'm' }],
    ['an object with an empty code', { code: '', kind: '', message: 'm' }, { code: 'run-failed', message: 'm' }],
    [
      'an object with a code of 129 characters',
      { code: 'c'.repeat(129), kind: 'k', message: 'm' },
      { kind: 'k', message: 'm' },
    ],
    [
      'an object with a code of 128 characters',
      { code: 'c'.repeat(128), message: 'm' },
      { code: 'c'.repeat(128), message: 'm' },
    ],
    ['an object without a message', { code: 'c' }, { code: 'c', message: '[object Object]' }],
    ['an error with an empty message', new RangeError(''), { code: 'run-failed', message: 'RangeError' }],
    ['a string', 'just text', { code: 'run-failed', message: 'just text' }],
    ['an empty string', '', { code: 'run-failed', message: '' }],
    ['a number', 7, { code: 'run-failed', message: '7' }],
    ['a symbol', Symbol('s'), { code: 'run-failed', message: 'Symbol(s)' }],
    ['null', null, { code: 'run-failed', message: 'null' }],
    ['undefined', undefined, { code: 'run-failed', message: 'undefined' }],
  ])('converts %s to an error with an identifier and a message', (_, thrown, error) => {
    expect(toRunError(thrown)).toEqual(error)
  })

  it.each([
    ['has no prototype', Object.create(null)],
    ['cannot be printed', unprintable],
    ['throws when it is read', trapped],
  ])('returns a message for a value that %s', (_, thrown) => {
    expect(toRunError(thrown)).toMatchObject({ code: 'run-failed', message: expect.any(String) })
  })

  it('truncates a long message and ends it with an ellipsis', () => {
    expect(toRunError(new Error('x'.repeat(4_096))).message).toBe('x'.repeat(4_096))
    expect(toRunError(new Error('x'.repeat(4_097))).message).toBe(`${'x'.repeat(4_095)}…`)
  })

  it('returns one identifier and a bounded message for any thrown value', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true }), (thrown) => {
        const { code, kind, message } = toRunError(thrown)

        expect([code, kind].filter((id) => id !== undefined)).toHaveLength(1)
        expect(message.length).toBeLessThanOrEqual(4_096)
      }),
    )
  })
})
