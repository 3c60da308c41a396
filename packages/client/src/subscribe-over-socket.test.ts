import { describe, expect, it } from 'vitest'
import { createClientWorld } from './client-world.fixture.ts'
import { collect, nameOf } from './collect.fixture.ts'
import { buildClient } from './create-client.ts'
import { settle } from './manual-pace.fixture.ts'
import { createModelServer } from './model-server.fixture.ts'

const RUN = 'agent:echo/runs/run_1/events'
const INBOX = 'approvals/events'

const publish = (server: ReturnType<typeof createModelServer>, count: number, subject = INBOX) =>
  Array.from({ length: count }, () => server.publish(subject).eventId)

describe('a subscription', () => {
  it('opens nothing before it is iterated', async () => {
    const { client, server } = createClientWorld()

    client.subscribe(INBOX)
    await settle()

    expect(server.upgrades).toEqual([])
  })

  it('delivers published events over a WebSocket that it opens with a ticket', async () => {
    const { client, server, pace, changes } = createClientWorld()
    const seen = collect(client.subscribe(INBOX))
    await pace.advance(0)

    const ids = publish(server, 3)
    await settle()

    expect(seen.ids()).toEqual(ids)
    expect(seen.items[0]).toEqual({
      type: 'event',
      event: expect.objectContaining({ subject: INBOX, payload: { n: 1 } }),
    })
    expect(Object.keys(seen.items[0]?.type === 'event' ? seen.items[0].event : {})).not.toContain('subscriptionId')
    expect(server.upgrades).toEqual([['svc.protocol.v1', 'ticket.t1']])
    expect(changes).toEqual([{ state: 'connecting' }, { state: 'open' }])
  })

  it('reports once that the server follows the subject, also after it had to reconnect', async () => {
    const { client, server, pace } = createClientWorld()
    const heads: number[] = []
    server.refuse(1)
    const seen = collect(client.subscribe(INBOX, { onSubscribed: () => heads.push(seen.items.length) }))
    publish(server, 1)
    await settle()
    expect(heads).toEqual([])

    await pace.advance(10_000)
    expect(heads).toEqual([0])

    server.cut()
    await pace.advance(10_000)
    const ids = publish(server, 1)
    await settle()
    expect(seen.ids()).toEqual(ids)
    expect(heads).toEqual([0])
  })

  it('shares one WebSocket, which closes shortly after the last subscription ends', async () => {
    const { client, server, pace } = createClientWorld()
    const subscriptions = ['a', 'b', 'c'].map((id) => client.subscribe(`agent:${id}/events`))
    const seen = subscriptions.map(collect)
    await pace.advance(0)

    server.publish('agent:b/events')
    await settle()
    expect(seen.map(({ items }) => items.length)).toEqual([0, 1, 0])
    expect(server.upgrades).toHaveLength(1)

    for (const subscription of subscriptions) subscription.close()
    await settle()
    expect(seen.map(({ ending }) => ending())).toEqual(['ended', 'ended', 'ended'])
    expect(server.openSockets()).toBe(1)
    await pace.advance(1_000)
    expect(server.openSockets()).toBe(0)
    expect(pace.waiting()).toEqual([])
  })

  it('delivers a run from its first event to its last and then ends', async () => {
    const { client, server, pace } = createClientWorld()
    publish(server, 2, RUN)

    const seen = collect(client.subscribe(RUN))
    await pace.advance(0)
    server.publish(RUN, 'run.completed')
    await settle()

    expect(seen.ids()).toEqual(['e1.1', 'e1.2', 'e1.3'])
    expect(seen.ending()).toBe('ended')
  })

  it('ends if its cursor is already at the last event of the run', async () => {
    const { client, server, pace } = createClientWorld()
    publish(server, 2, RUN)
    const last = server.publish(RUN, 'run.failed')

    const atEnd = collect(client.subscribe(RUN, { lastEventId: last.eventId }))
    const before = collect(client.subscribe(RUN, { lastEventId: 'e1.2' }))
    await pace.advance(0)

    expect([atEnd.ids(), atEnd.ending()]).toEqual([[], 'ended'])
    expect([before.ids(), before.ending()]).toEqual([['e1.3'], 'ended'])
  })

  it('resumes at its position, even if it has received no event yet', async () => {
    const { client, server, pace } = createClientWorld()
    publish(server, 5)
    const seen = collect(client.subscribe(INBOX))
    await pace.advance(0)

    server.cut()
    await settle()
    publish(server, 2)
    await pace.advance(10_000)
    server.cut()
    await settle()
    publish(server, 1)
    await pace.advance(10_000)

    expect(seen.ids()).toEqual(['e1.6', 'e1.7', 'e1.8'])
    expect(new Set(server.upgrades.map(([, ticket]) => ticket)).size).toBe(3)
  })

  it('reports a gap before the events that are still available', async () => {
    const { client, server, pace } = createClientWorld()
    const seen = collect(client.subscribe(INBOX))
    await pace.advance(0)
    publish(server, 1)
    await settle()

    server.cut()
    await settle()
    publish(server, 3)
    server.trim(2)
    await pace.advance(10_000)

    expect(seen.ids()).toEqual(['e1.1', 'gap', 'e1.3', 'e1.4'])
    expect(seen.items[1]).toEqual({ type: 'gap', subject: INBOX, firstAvailable: 'e1.3', lastEventId: 'e1.1' })
  })

  it('follows a log that was restarted', async () => {
    const { client, server, pace } = createClientWorld()
    const seen = collect(client.subscribe(INBOX))
    await pace.advance(0)
    publish(server, 3)
    await settle()

    server.renew()
    publish(server, 2)
    await pace.advance(10_000)
    server.cut()
    await pace.advance(10_000)
    publish(server, 1)
    await settle()

    expect(seen.ids()).toEqual(['e1.1', 'e1.2', 'e1.3', 'gap', 'e2.1', 'e2.2', 'e2.3'])
  })

  it('exposes the id of the last event it yielded', async () => {
    const { client, server, pace } = createClientWorld()
    const subscription = client.subscribe(INBOX, { lastEventId: 'e1.0' })
    expect(subscription.lastEventId).toBe('e1.0')
    publish(server, 3)

    for await (const item of subscription) if (nameOf(item) === 'e1.2') break

    expect(subscription.lastEventId).toBe('e1.2')
    await pace.advance(1_000)
    expect(server.openSockets()).toBe(0)
  })

  it('is unsubscribed on the server if it is closed before the server answers', async () => {
    const { client, server, pace } = createClientWorld()
    collect(client.subscribe(INBOX))
    await pace.advance(0)
    const hasty = client.subscribe('audit/events')
    const seen = collect(hasty)
    await Promise.resolve()

    hasty.close()
    await settle()

    expect(seen.ending()).toBe('ended')
    expect(server.messages.slice(-2)).toEqual([
      'subscription.subscribe {"subject":"audit/events"}',
      expect.stringMatching(/^subscription\.unsubscribe/),
    ])
  })

  it('ends when its signal is aborted, even before the subscription starts', async () => {
    const { client, pace } = createClientWorld()
    const controller = new AbortController()
    const late = collect(client.subscribe(INBOX, { signal: controller.signal }))
    await pace.advance(0)
    controller.abort()
    const never = collect(client.subscribe(INBOX, { signal: controller.signal }))
    await settle()

    expect([late.ending(), never.ending()]).toEqual(['ended', 'ended'])
  })

  it('ends immediately when the client is closed', async () => {
    const { client, server, pace } = createClientWorld()
    const seen = collect(client.subscribe(INBOX))
    await pace.advance(0)

    client.close()
    await settle()

    expect(seen.ending()).toBe('ended')
    expect(server.openSockets()).toBe(0)
    expect(pace.waiting()).toEqual([])
  })
})

describe('a subscription with a slow reader', () => {
  it('buffers a bounded number of items and loses no item', async () => {
    const { client, server, pace } = createClientWorld()
    const iterator = client.subscribe(INBOX, { bufferSize: 4 })[Symbol.asyncIterator]()
    const first = iterator.next()
    await pace.advance(0)
    const ids = publish(server, 1)
    await first

    ids.push(...publish(server, 50))
    await settle()
    const asked = () => server.messages.filter((message) => message.startsWith('subscription.unsubscribe')).length
    expect(asked()).toBe(1)

    const seen = ['e1.1']
    while (seen.length < ids.length) {
      const next = iterator.next()
      await pace.advance(0)
      const { value } = await next
      seen.push(nameOf(value))
    }
    expect(seen).toEqual(ids)
    expect(asked()).toBeGreaterThan(5)
  })
})

describe('a client with many subscriptions', () => {
  it('never exceeds the message limit of the server', async () => {
    const { client, server, pace } = createClientWorld()
    const seen = Array.from({ length: 200 }, (_, n) => collect(client.subscribe(`agent:a${n}/events`)))
    const limited = createModelServer({ maxMessages: 100 })
    const slow = buildClient({ baseUrl: 'http://server/v1', fetch: limited.fetch, WebSocket: limited.WebSocket }, pace)
    const slowSeen = Array.from({ length: 200 }, (_, n) => collect(slow.subscribe(`agent:a${n}/events`)))

    await pace.advance(0)
    expect(limited.messages).toHaveLength(81)
    await pace.advance(9_999)
    expect(limited.messages).toHaveLength(81)
    await pace.advance(20_001)

    expect(limited.messages.filter((message) => message.startsWith('subscription'))).toHaveLength(200)
    limited.publish('agent:a199/events')
    server.publish('agent:a0/events')
    await settle()
    expect([slowSeen[199]?.items.length, seen[0]?.items.length]).toEqual([1, 1])
  })
})
