import { beginFold, foldLog, outputText, transcriptOf } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { logOf, RUN } from './events.fixture.ts'

const textOf = (...events: Parameters<typeof logOf>[0]) =>
  outputText(transcriptOf(foldLog(logOf(events), beginFold(RUN))))
const completed = (result: unknown) =>
  ['run.completed', { status: 'completed', finishReason: 'completed', result }] as const

describe('outputText', () => {
  it('joins the blocks of text without commentary', () => {
    const said = (text: string, phase?: string) => ['text.complete', { text, messageId: text, phase }] as const
    expect(textOf(said('One.'), said('hm', 'commentary'), said('Two.'), completed('other'))).toBe('One.\n\nTwo.')
  })

  it.each([
    ['a text', 'done', 'done'],
    ['a member with text', { answer: 'forty-two', n: 1 }, 'forty-two'],
    ['an object', { n: 1 }, '{"n":1}'],
    ['nothing', null, ''],
  ])('falls back to a result that is %s', (_, result, text) => {
    expect(textOf(completed(result))).toBe(text)
  })
})
