import type { DeliveredEvent, FeedPage } from '@perdure/core'
import { toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { messagesOf } from './connections.fixture.ts'
import { createFramesOf } from './page-frames.ts'

const TOPIC = { stream: { topic: 'agent:echo/events' }, subject: 'agent:echo/events', epoch: 'e1' }
const SESSION = { stream: { sessionId: 'chat' }, subject: 'session:chat/events', epoch: 'e1' }

const anEvent = (position: number, { type = 'note.said', text = 'x' } = {}): DeliveredEvent => ({
  ...{ position, type },
  envelope: toJsonText({ eventId: `e1.${position}`, payload: { text } }),
})
const pageOf = (...events: readonly DeliveredEvent[]): FeedPage => ({ events, hasMore: false })
const many = (count: number, text: string) => Array.from({ length: count }, (_, n) => anEvent(n + 1, { text }))

describe('createFramesOf', () => {
  // Lengths around 126 and 65,536 bytes, where the length encoding of a frame changes.
  it.each([0, 1, 60, 125, 126, 127, 1_000, 65_535, 65_536, 70_000])('encodes a payload of %i characters', (length) => {
    for (const character of ['x', 'é', '語', '😀']) {
      const text = character.repeat(length)
      const blocks = createFramesOf()(pageOf(anEvent(1, { text })), { id: 'sub_1', source: TOPIC })

      expect(blocks.flatMap(({ bytes }) => messagesOf(bytes)).map((message) => JSON.parse(message))).toEqual([
        { v: '1', kind: 'event', subscriptionId: 'sub_1', eventId: 'e1.1', payload: { text } },
      ])
    }
  })

  it('encodes one message per event, in order, in small blocks', () => {
    const blocks = createFramesOf()(pageOf(...many(64, 'x'.repeat(1_000))), { id: 'sub_1', source: TOPIC })

    const ids = blocks.map(({ bytes }) => messagesOf(bytes).map((message) => JSON.parse(message).eventId))
    expect(ids.flat()).toEqual(Array.from({ length: 64 }, (_, n) => `e1.${n + 1}`))
    expect(blocks.map(({ through }) => `e1.${through}`)).toEqual(ids.map((block) => block.at(-1)))
    expect(Math.max(...blocks.map(({ bytes }) => bytes.length))).toBeLessThan(16_384 + 1_200)
    expect(blocks.length).toBeLessThan(6)
  })

  it('encodes a page once per subscription id', () => {
    const framesOf = createFramesOf()
    const page = pageOf(...many(3, 'x'))

    const first = framesOf(page, { id: 'sub_1', source: TOPIC })

    expect(framesOf(page, { id: 'sub_1', source: TOPIC })).toBe(first)
    const ids = Array.from({ length: 9 }, (_, n) => `sub_${n + 1}`)
    for (const id of [...ids, ...ids]) {
      const [block] = framesOf(page, { id, source: TOPIC })
      expect(messagesOf(block?.bytes ?? new Uint8Array())[0]).toContain(`"subscriptionId":"${id}"`)
    }
    expect(framesOf(pageOf(...many(3, 'x')), { id: 'sub_1', source: TOPIC })).not.toBe(first)
  })

  it('stops at the event that ends the stream', () => {
    const page = pageOf(anEvent(1), anEvent(2, { type: 'session.deleted' }), anEvent(3))

    const blocks = createFramesOf()(page, { id: 'sub_1', source: SESSION })

    expect(blocks.flatMap(({ bytes }) => messagesOf(bytes))).toHaveLength(2)
    expect(blocks.at(-1)).toMatchObject({ through: 2, isLast: true })
    const elsewhere = createFramesOf()(page, { id: 'sub_1', source: TOPIC })
    expect(elsewhere.flatMap(({ bytes }) => messagesOf(bytes))).toHaveLength(3)
  })

  it('returns no frames for a page without events', () => {
    expect(createFramesOf()(pageOf(), { id: 'sub_1', source: TOPIC })).toEqual([])
  })
})
