import { perdureError } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { markFailedCall } from './failed-call.ts'
import { shownError, toRunError, toRunFailure } from './run-error.ts'

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
      { code: 'rate-limit', message: 'no' },
    ],
    ['a PerdureError', perdureError('agent-busy', { message: 'm' }), { code: 'agent-busy', message: 'm' }],
    ['an object with a numeric code', { code: 7, message: 'm' }, { code: 'run-failed', message: 'm' }],
    ['an object with an empty code', { code: '', kind: '', message: 'm' }, { code: 'run-failed', message: 'm' }],
    [
      'an object with a code of 129 characters',
      { code: 'c'.repeat(129), kind: 'k', message: 'm' },
      { code: 'k', message: 'm' },
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
        const { code, message } = toRunError(thrown)

        expect(code).not.toBe('')
        expect(message.length).toBeLessThanOrEqual(4_096)
      }),
    )
  })
})

describe('toRunFailure', () => {
  it('records the chain of causes with their names, without the thrown value itself', () => {
    const inner = new RangeError('out of range')
    const thrown = new Error('outer', { cause: new TypeError('middle', { cause: inner }) })

    expect(toRunFailure(thrown)).toMatchObject({
      code: 'run-failed',
      message: 'outer',
      cause: [
        { name: 'TypeError', message: 'middle' },
        { name: 'RangeError', message: 'out of range' },
      ],
      stack: expect.stringMatching(/^Error: outer\n {4}at .*\n(.*\n)*caused by TypeError: middle\n/),
    })
  })

  it('names the durable call that failed, also below another error', () => {
    const failed = markFailedCall(perdureError('step-failed'), { seq: 3, name: 'charge' })

    expect(toRunFailure(failed).step).toEqual({ seq: 3, name: 'charge' })
    expect(toRunFailure(new Error('cannot refund', { cause: failed })).step).toEqual({ seq: 3, name: 'charge' })
    expect(toRunFailure(new Error('other'))).not.toHaveProperty('step')
  })

  it('keeps at most five causes, each with at most 1,024 characters', () => {
    let thrown = new Error('root')
    for (let depth = 0; depth < 20; depth++) thrown = new Error('x'.repeat(5_000), { cause: thrown })
    const { cause = [] } = toRunFailure(thrown)

    expect(cause.map(({ message }) => message.length)).toEqual([1_024, 1_024, 1_024, 1_024, 1_024])
  })

  it('ends at a cause that repeats', () => {
    const thrown = new Error('a')
    thrown.cause = new Error('b', { cause: thrown })

    expect(toRunFailure(thrown).cause).toEqual([{ name: 'Error', message: 'b' }])
  })

  it('accepts any thrown value', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (cause) => {
        expect(toRunFailure(Object.assign(new Error('m'), { cause })).message).toBe('m')
        expect(toRunFailure(cause)).toMatchObject(toRunError(cause))
      }),
    )
    expect(toRunFailure(trapped)).toMatchObject({ code: 'run-failed' })
  })

  it('shows clients everything but the stack', () => {
    const shown = shownError(toRunFailure(new Error('outer', { cause: 'inner' })))

    expect(shown).toEqual({ code: 'run-failed', message: 'outer', cause: [{ name: 'string', message: 'inner' }] })
  })
})
