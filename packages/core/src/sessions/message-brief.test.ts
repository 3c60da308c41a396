import { toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { briefOf, titleLine, titleOf } from './message-brief.ts'

const AGENT = { kind: 'agent', targetId: 'a' } as const
const answer = (result: unknown) => briefOf(AGENT, { role: 'assistant', content: toJsonText(result) })?.text
const question = (input: unknown) => briefOf(AGENT, { role: 'user', content: toJsonText(input) })?.text
const file = { type: 'file', mediaType: 'image/png', url: '/v1/files/file_1' }
const chat = (...content: readonly object[]) => ({ text: '', messages: [{ role: 'user', content }] })

describe('the brief of a message', () => {
  it.each([
    [question(chat({ type: 'text', text: 'Hello' }, file)), 'Hello'],
    [question(chat(file, { ...file, name: 'a.pdf' })), 'image/png, a.pdf'],
    [question('plain'), 'plain'],
    [question(null), ''],
    [answer({ text: 'Yes' }), 'Yes'],
    [answer('Yes'), 'Yes'],
    [answer({ age: 7 }), '{"age":7}'],
    [answer(null), ''],
  ])('is %j', (brief, expected) => {
    expect(brief).toBe(expected)
  })

  it('is one line of at most 200 characters, cut between characters as people see them', () => {
    const family = '👨‍👩‍👧‍👦'
    expect(answer(`a\n\t b  c `)).toBe('a b c')
    expect(answer('x'.repeat(200))).toBe('x'.repeat(200))
    expect(answer('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`)
    expect(titleLine(`${'é'.repeat(78)} ${family}${family}`)).toBe(`${'é'.repeat(78)}…`)
    expect(titleLine(family.repeat(9))).toBe(family.repeat(9))
  })

  it('is short, however many marks a character has and however long the message is', () => {
    expect(titleLine(`e${'\u0301'.repeat(100_000)}`).length).toBeLessThanOrEqual(321)
    expect(titleOf(toJsonText(`${' '.repeat(1_000_000)}x`))).toBe('')
  })

  it('is none for a message that no agent has written', () => {
    expect(briefOf({ kind: 'workflow', targetId: 'w' }, { role: 'user', content: toJsonText('x') })).toBeUndefined()
  })
})
