import { createInMemoryStorage } from '@perdure/in-memory'
import { noMeter, toJsonText } from '@perdure/ports'
import { anEvent, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { publishing } from '../commit/create-commit.ts'
import { createRenderEnvelope } from './envelope.ts'
import { createEventFeed } from './event-feed.ts'
import { createEventHub } from './event-hub.ts'
import { createHotCache } from './hot-cache.ts'

const SOURCE = { stream: { topic: 'agent:echo/events' }, subject: 'agent:echo/events', epoch: 'e1' }
const FROM_START = { after: 0, limit: 10 }

function setUp() {
  const storage = createInMemoryStorage({ epoch: 'e1' })
  const limits = { maxEvents: 1_000, ttlMs: 1_000, maxSubjectBytes: 2 ** 24, maxBytes: 2 ** 24 }
  const hub = createEventHub(createHotCache(createManualClock(), limits))
  hub.watch(SOURCE.stream, { wake: () => undefined })
  const unitOfWork = publishing(storage.unitOfWork, { hub })
  const render = createRenderEnvelope({ meter: noMeter, policy: 'redact' })
  const feed = createEventFeed({ events: storage.events, hub, render })
  const publish = async (count: number, text = 'x', topic = SOURCE.subject) => {
    const events = Array.from({ length: count }, () => anEvent({ topic, payload: toJsonText({ text }) }))
    await unitOfWork.commit([{ type: 'event.append', events }])
  }
  const positions = async (after: number, limit = 10) =>
    (await feed.read(SOURCE, { after, limit })).events.map(({ position }) => position)
  return { storage, feed, hub, publish, positions }
}

describe('createEventFeed', () => {
  it('returns the same page to all subscribers that read from the same position', async () => {
    const { feed, publish } = setUp()
    await publish(3)

    const page = feed.read(SOURCE, FROM_START)

    expect(feed.read({ ...SOURCE }, { ...FROM_START })).toBe(page)
    expect(feed.read(SOURCE, { after: 1, limit: 10 })).not.toBe(page)
    expect(feed.read(SOURCE, { after: 0, limit: 2 })).toMatchObject({ hasMore: true })
  })

  it('renders a separate page for each subject of a stream', async () => {
    const { feed, publish } = setUp()
    await publish(1)

    const page = await feed.read({ ...SOURCE, subject: 'agent:other/events' }, FROM_START)

    expect(page.events[0]?.envelope).toContain('agent:other/events')
    expect((await feed.read(SOURCE, FROM_START)).events[0]?.envelope).toContain('agent:echo/events')
  })

  it('returns events that were published after a page was read', async () => {
    const { publish, positions } = setUp()
    await publish(1)
    expect(await positions(0)).toEqual([1])
    expect(await positions(1)).toEqual([])

    await publish(2)

    expect(await positions(0)).toEqual([1, 2, 3])
    expect(await positions(1)).toEqual([2, 3])
  })

  it('renders a new page after a deletion', async () => {
    const { feed, hub, publish } = setUp()
    await publish(1)
    const page = feed.read(SOURCE, FROM_START)

    hub.invalidate()

    expect(await feed.read(SOURCE, FROM_START)).not.toBe(page)
  })

  it('keeps a page of the log while its stream is watched', async () => {
    const { storage, feed } = setUp()
    const topic = 'agent:other/events'
    const other = { ...SOURCE, subject: topic, stream: { topic } }
    await storage.unitOfWork.commit([{ type: 'event.append', events: [anEvent({ topic })] }])
    const watchers = [{ wake: () => undefined }, { wake: () => undefined }] as const
    for (const watcher of watchers) feed.watch(other, watcher)
    const isRead = () => feed.readLog(other, FROM_START) instanceof Promise
    await feed.readLog(other, FROM_START)

    feed.unwatch(other, watchers[0])
    expect(isRead()).toBe(false)
    feed.unwatch(other, watchers[1])
    expect(isRead()).toBe(true)
  })

  it('bounds the number of shared pages', async () => {
    const { feed, publish } = setUp()
    await publish(100)
    const page = feed.read(SOURCE, FROM_START)

    for (let after = 1; after < 50; after++) feed.read(SOURCE, { after, limit: 10 })

    expect(feed.read(SOURCE, FROM_START)).not.toBe(page)
  })

  it('ends a page of large events early and reports that there is more', async () => {
    const { feed, publish } = setUp()
    await publish(10, 'x'.repeat(100_000))

    const first = await feed.read(SOURCE, FROM_START)
    const second = await feed.read(SOURCE, { after: 3, limit: 10 })

    expect(first).toMatchObject({ hasMore: true, events: [{ position: 1 }, { position: 2 }, { position: 3 }] })
    expect(second.events[0]?.position).toBe(4)
  })
})
