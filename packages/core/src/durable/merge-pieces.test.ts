import { toJsonText } from '@perdure/ports'
import { EVENTS } from '@perdure/protocol'
import { anEvent } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergePieces } from './merge-pieces.ts'

const LIMIT = 1_000_000
const piece = (payload: unknown, type = 'text.delta') => anEvent({ runId: 'run_1', type, payload: toJsonText(payload) })

const merged = (one: unknown, next: unknown, type = 'text.delta') => {
  const event = mergePieces(piece(one, type), piece(next, type), LIMIT)
  return event === undefined ? undefined : JSON.parse(event.payload)
}

describe('mergePieces', () => {
  it('joins the texts of two pieces and keeps the other members, in their order', () => {
    const one = piece({ messageId: 'm', delta: 'Hel', blockId: 'b' })
    const next = { ...piece({ messageId: 'm', delta: 'lo', blockId: 'b' }), at: one.at + 1 } as typeof one

    expect(mergePieces(one, next, LIMIT)).toEqual({
      ...one,
      payload: '{"messageId":"m","delta":"Hello","blockId":"b"}',
    })
  })

  it('joins the pieces of every type that the table marks', () => {
    const types = Object.entries(EVENTS).flatMap(([type, spec]) =>
      'piece' in spec ? [[type, spec.piece] as const] : [],
    )
    expect(types.map(([type]) => type)).toEqual(['text.delta', 'reasoning.delta', 'tool.call.delta'])
    for (const [type, member] of types) {
      expect(merged({ toolCallId: 't', [member]: 'a' }, { toolCallId: 't', [member]: 'b' }, type)).toEqual({
        toolCallId: 't',
        [member]: 'ab',
      })
    }
  })

  it.each([
    ['another block', { delta: 'a', blockId: '1' }, { delta: 'b', blockId: '2' }],
    ['a member that the other lacks', { delta: 'a' }, { delta: 'b', blockId: '1' }],
    ['a member in place of another', { delta: 'a', blockId: '1' }, { delta: 'b', messageId: '1' }],
    ['metadata of their own', { delta: 'a', metadata: { n: 1 } }, { delta: 'b', metadata: { n: 1 } }],
    ['a member that is null', { delta: 'a', metadata: null }, { delta: 'b', metadata: null }],
    ['no text', { delta: 1 }, { delta: 2 }],
    ['a payload that is a list', ['a'], ['b']],
    ['a payload that is no object', 'a', 'b'],
  ])('keeps pieces apart that have %s', (_, one, next) => {
    expect(merged(one, next)).toBeUndefined()
  })

  it('keeps events apart that are of another type or phase, or are not pieces', () => {
    const one = piece({ delta: 'a' })
    expect(mergePieces(one, piece({ delta: 'b' }, 'reasoning.delta'), LIMIT)).toBeUndefined()
    expect(mergePieces(one, { ...one, phase: 'commentary' }, LIMIT)).toBeUndefined()
    expect(merged({ delta: 'a' }, { delta: 'b' }, 'note.delta')).toBeUndefined()
    expect(merged({ delta: 'a' }, { delta: 'b' }, 'constructor')).toBeUndefined()
  })

  it('merges no event that would be longer than the limit of a payload, or than 4 KiB', () => {
    const [one, next] = [piece({ delta: 'é'.repeat(10) }), piece({ delta: 'é'.repeat(10) })]
    expect(mergePieces(one, next, 51)).toBeUndefined()
    expect(mergePieces(one, next, 52)).toBeDefined()
    expect(merged({ delta: 'x'.repeat(2_000) }, { delta: 'x'.repeat(2_070) })).toBeDefined()
    expect(merged({ delta: 'x'.repeat(2_000) }, { delta: 'x'.repeat(2_090) })).toBeUndefined()
  })

  it('keeps every character, also of a surrogate pair that the pieces divide', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\ud83d', '\ude00', 'é', '@') })
    fc.assert(
      fc.property(
        text,
        text,
        fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.boolean())),
        (a, b, more) => {
          const fields = JSON.parse(JSON.stringify(more)) as Record<string, unknown>
          if (Object.values(fields).some((value) => value === null)) return
          expect(merged({ ...fields, delta: a }, { ...fields, delta: b })).toEqual({ ...fields, delta: a + b })
        },
      ),
    )
  })
})
