import { describe, expect, it } from 'vitest'
import { chatInput } from './chat-input.ts'

const validated = (input: unknown) => chatInput['~standard'].validate(input)
const text = { type: 'text', text: 'Where is my order?' }

describe('the input of a chat agent', () => {
  it.each<[string, unknown]>([
    ['a text', 'Where is my order?'],
    ['an object with a text', { text: 'Where is my order?' }],
    ['messages with parts as content', { text: 'Hi', messages: [{ id: 'm1', role: 'user', content: [text] }] }],
    ['no new messages', { messages: [] }],
    ['a part of a kind that only the client knows', { messages: [{ role: 'user', content: [{ type: 'other' }] }] }],
  ])('takes %s as it is', (_, input) => {
    expect(validated(input)).toEqual({ value: input })
  })

  it.each<[string, unknown]>([
    ['messages of the model', { role: 'user', content: 'Where is my order?' }],
    ['messages of a page', { role: 'user', parts: [text] }],
  ])('takes %s', (_, message) => {
    const value = { messages: [{ role: 'user', content: [text] }] }
    expect(validated({ messages: [message] })).toEqual({ value })
  })

  it('takes files and data of a page', () => {
    const parts = [
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==', filename: 'photo.png' },
      { type: 'data-location', id: 'd1', data: { city: 'Bern' } },
    ]
    const content = [
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==', name: 'photo.png' },
      { type: 'data', name: 'location', id: 'd1', data: { city: 'Bern' } },
    ]
    expect(validated({ messages: [{ role: 'user', parts }] })).toEqual({
      value: { messages: [{ role: 'user', content }] },
    })
  })

  it.each<[string, unknown, readonly (string | number)[]]>([
    ['a message that is a text', 'Hi', ['messages', 1]],
    ['a message without a role', { content: 'Hi' }, ['messages', 1, 'role']],
    ['a role that no chat has', { role: 'bot', content: 'Hi' }, ['messages', 1, 'role']],
    ['a message without content', { role: 'user' }, ['messages', 1, 'content']],
    ['content that is a number', { role: 'user', content: 7 }, ['messages', 1, 'content']],
    ['a part that is a text', { role: 'user', content: ['Hi'] }, ['messages', 1, 'content', 0]],
    [
      'a text part without a text',
      { role: 'user', content: [{ type: 'text' }] },
      ['messages', 1, 'content', 0, 'text'],
    ],
    ['a part without a type', { role: 'user', parts: [{ text: 'Hi' }] }, ['messages', 1, 'parts', 0, 'type']],
    [
      'a file without an address',
      { role: 'user', parts: [{ type: 'file', mediaType: 'image/png' }] },
      ['messages', 1, 'parts', 0, 'url'],
    ],
  ])('refuses %s, and names the place', (_, message, path) => {
    const { issues } = validated({ messages: [{ role: 'user', content: 'Hi' }, message] }) as never
    expect(issues).toMatchObject([{ path }])
  })

  it('shows the form of a message that it refuses', () => {
    const { issues } = validated({ messages: [{ role: 'user' }] }) as { issues: { message: string }[] }
    expect(issues[0]?.message).toContain('{ "role": "user", "content": "…" }')
  })
})
