import { createInMemoryStorage } from '@perdure/in-memory'
import { noMeter, toJsonText } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { lengthOfItems } from '../json/json-page.ts'
import { parsedItems } from '../json/page-items.fixture.ts'
import { createRenderEnvelope } from './envelope.ts'
import { readEventPage } from './read-event-page.ts'

const counted: string[] = []
const meter = { ...noMeter, count: (name: string) => void counted.push(name) }
const VIEW = { stream: { topic: 't' }, subject: 's', render: createRenderEnvelope({ meter, policy: 'redact' }) }

it.each(['asc', 'desc'] as const)(
  'leaves the long events of a page in the log until they are sent: %s',
  async (order) => {
    counted.length = 0
    const { events, unitOfWork } = createInMemoryStorage({ epoch: 'e1' })
    const texts = Array.from({ length: 30 }, (_, n) => `${n} bob@example.com ${'é'.repeat(100_000)}`)
    const recorded = texts.map((text) =>
      anEvent({ topic: 't', type: 'reasoning.delta', payload: toJsonText({ delta: text }) }),
    )
    await unitOfWork.commit([{ type: 'event.append', events: recorded }])

    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await readEventPage(events, VIEW, { limit: 25, order, cursor })
      expect(JSON.stringify(page.items).length).toBeLessThan(20_000)
      expect(lengthOfItems(page.items)).toBeLessThan(4.1 * 1024 * 1024)
      seen.push(...(await parsedItems(page.items)).map((item: { payload: { delta: string } }) => item.payload.delta))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)

    const shown = texts.map((text) => text.replace('bob@example.com', '[redacted:email]'))
    expect(seen).toEqual(order === 'asc' ? shown : shown.toReversed())
    expect(counted).toHaveLength(30)
  },
)
