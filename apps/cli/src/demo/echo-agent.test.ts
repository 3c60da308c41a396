import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runAgent } from '../../test/run-agent.ts'
import { echoAgent, pieces } from './echo-agent.ts'

describe('echoAgent', () => {
  it.each([
    ['a string', 'two words'],
    ['a text', { text: 'two words', other: 1 }],
  ])('streams %s word by word and returns its input', async (_, input) => {
    const { events, result } = await runAgent(echoAgent, input)

    expect(result).toEqual(input)
    expect(events.map(({ type, payload }) => [type, payload])).toEqual([
      ['text.delta', { messageId: 'run_1-1', delta: 'two ' }],
      ['text.delta', { messageId: 'run_1-1', delta: 'words' }],
      ['text.complete', { messageId: 'run_1-1', text: 'two words' }],
    ])
  })

  it.each([[null], [42], [{ a: 1 }], [{ text: 7 }], ['']])('returns %j without events', async (input) => {
    expect(await runAgent(echoAgent, input)).toEqual({ events: [], result: input })
  })
})

describe('pieces', () => {
  it('returns at most 200 pieces that join to the text', () => {
    const text = fc
      .array(fc.constantFrom('a', 'bc', ' ', '\n', 'word ', 'ü'), { maxLength: 2_000 })
      .map((parts) => parts.join(''))

    fc.assert(
      fc.property(text, (source) => {
        expect(pieces(source).join('')).toBe(source)
        expect(pieces(source).length).toBeLessThanOrEqual(200)
      }),
    )
  })
})
