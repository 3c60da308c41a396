import { describe, expect, it } from 'vitest'
import type { Event } from '../api/resources.ts'
import { messagesOf } from './message-fold.ts'

const event = (type: string, payload: unknown): Event => ({
  eventId: 'e1.1',
  subject: 'agent:a/events',
  type,
  payload,
  at: '2026-03-02T09:00:00.000Z',
})

describe('messagesOf', () => {
  it('joins the pieces of a text and of the reasoning, and shows tools where they were called', () => {
    const parts = messagesOf([
      event('reasoning.delta', { delta: 'Think', messageId: 'm1' }),
      event('text.delta', { delta: 'Hel', messageId: 'm1' }),
      event('tool.execute.start', { toolCallId: 'c1', toolName: 'search', args: { q: 1 } }),
      event('text.delta', { delta: 'lo', messageId: 'm1' }),
      event('tool.execute.end', { toolCallId: 'c1', result: 7 }),
    ])

    expect(parts).toMatchObject([
      { kind: 'reasoning', text: 'Think' },
      { kind: 'text', text: 'Hello' },
      { kind: 'tool', name: 'search', args: { q: 1 }, answer: 7 },
    ])
  })

  it('withdraws the text of a block that starts again', () => {
    const parts = messagesOf([
      event('text.start', { messageId: 'm1' }),
      event('text.delta', { delta: 'wrong', messageId: 'm1' }),
      event('text.start', { messageId: 'm1' }),
      event('text.delta', { delta: 'right', messageId: 'm1' }),
    ])

    expect(parts).toMatchObject([{ kind: 'text', text: 'right' }])
  })

  it('shows a whole text only if its pieces were not sent', () => {
    expect(messagesOf([event('text.complete', { text: 'all' })])).toMatchObject([{ text: 'all' }])
    expect(messagesOf([event('text.delta', { delta: 'all' }), event('text.complete', { text: 'all' })])).toMatchObject([
      { text: 'all' },
    ])
  })

  it('keeps the error of a tool, and ignores payloads of another form', () => {
    const parts = messagesOf([
      event('tool.execute.start', { toolCallId: 'c1', toolName: 'send' }),
      event('tool.execute.error', { toolCallId: 'c1', error: { kind: 'timeout' } }),
      event('tool.execute.end', { toolCallId: 'unknown', result: 1 }),
      event('text.delta', 'text'),
    ])

    expect(parts).toMatchObject([{ kind: 'tool', answer: { kind: 'timeout' } }])
  })
})
