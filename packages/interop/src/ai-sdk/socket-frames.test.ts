import { describe, expect, it } from 'vitest'
import { formatSocketAnswer, parseSocketRequest } from './socket-frames.ts'

const read = (text: string) => parseSocketRequest(text, { maxBytes: 10_000, yieldTurn: async () => undefined })
const parse = (frame: unknown) => read(JSON.stringify(frame))
const COMMON = { requestId: 'r1', id: 'chat-1', headers: {}, body: {} }

describe('the frames of WebSocketChatTransport', () => {
  it('become the body of a chat request, which a member of the page cannot replace', async () => {
    const sent = { messages: [], trigger: 'submit-message' }
    const frame = {
      ...COMMON,
      ...sent,
      type: 'send',
      headers: { 'idempotency-key': 'k' },
      body: { id: 'other', mood: 1 },
    }

    expect(await parse(frame)).toEqual({
      ...{ type: 'send', requestId: 'r1', chatId: 'chat-1', key: 'k' },
      body: { ...sent, mood: 1, id: 'chat-1', messageId: undefined },
    })
  })

  it('resume after the last chunk that the client has', async () => {
    expect(await parse({ ...COMMON, type: 'resume' })).toMatchObject({ from: 0 })
    expect(await parse({ ...COMMON, type: 'resume', lastSequence: 4 })).toMatchObject({ from: 5 })
    expect(await parse({ ...COMMON, type: 'resume', lastSequence: -1 })).toBeUndefined()
  })

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"type":"send"}',
    JSON.stringify({ ...COMMON, type: 'other' }),
    JSON.stringify({ ...COMMON, type: 'send', requestId: '' }),
    JSON.stringify({ ...COMMON, type: 'send', body: null }),
    JSON.stringify({ ...COMMON, type: 'resume', id: 'x'.repeat(513) }),
    JSON.stringify({ ...COMMON, type: 'resume' }).replace('{', '{"type":"abort",'),
  ])('are not: %s', async (text) => {
    expect(await read(text)).toBeUndefined()
  })

  it('carry chunks as they are', () => {
    const text = formatSocketAnswer({ type: 'chunk', requestId: 'r"1', sequence: 3, chunk: '{"type":"finish"}' })

    expect(JSON.parse(text)).toEqual({ type: 'chunk', requestId: 'r"1', sequence: 3, chunk: { type: 'finish' } })
  })
})
