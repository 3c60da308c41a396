import { anEvent } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { connected, createWorld, settled } from './connections.fixture.ts'

const TOPIC = 'agent:echo/events'
const subscribe = { subject: TOPIC }

const publish = (world: ReturnType<typeof createWorld>, count: number) =>
  world.unitOfWork.commit([
    { type: 'event.append', events: Array.from({ length: count }, () => anEvent({ topic: TOPIC })) },
  ])

describe('a closed connection', () => {
  it('releases the events that were kept in memory for its subscriptions', async () => {
    const world = createWorld()
    // Several readers of one stream keep its newest events in memory.
    const clients = await Promise.all([connected(world), connected(world)])
    for (const { call } of clients) await call('subscription.subscribe', subscribe)
    await publish(world, 3)
    expect(world.hub.stats().events).toBe(3)

    for (const { connection } of clients) connection.closed()

    expect(world.hub.stats().events).toBe(0)
  })

  it('writes no frame after the close frame', async () => {
    const world = createWorld()
    const { socket, call } = await connected(world)
    await call('subscription.subscribe', subscribe)

    socket.startClosing()
    await publish(world, 3)

    expect(socket.closed).toBeUndefined()
  })
})

describe('an idle connection', () => {
  const UNUSED = { cancelTimer: undefined, unanswered: undefined, behind: undefined }
  const UNWATCHED = { unsentDeadline: undefined, progressDeadline: undefined, unwatchToken: undefined }

  it('keeps no delivery state and shares its event sources with other connections', async () => {
    const world = createWorld()
    const clients = await Promise.all([connected(world), connected(world)])
    for (const { call } of clients) await call('subscription.subscribe', subscribe)
    await publish(world, 200)
    await settled()

    for (const { record } of clients) expect(record).toMatchObject({ ...UNUSED, ...UNWATCHED, isPumping: false })
    const [first, second] = clients.map(({ record }) => record.subscriptions[0])
    expect(first?.position).toBe(200)
    expect(first?.source).toBe(second?.source)
    expect(first?.wake).toBe(second?.wake)
  })

  it('does not share the event source of a connection that was opened on another log', async () => {
    let epoch = 'e1'
    const world = createWorld({
      eventsOf: ({ events }) => ({ ...events, head: async () => ({ ...(await events.head()), epoch }) }),
    })
    const [before, after] = [await connected(world), await connected(world)]
    await before.call('subscription.subscribe', subscribe)
    epoch = 'e2'
    await after.call('subscription.subscribe', subscribe)

    expect(after.record.subscriptions.map(({ source }) => source.epoch)).toEqual(['e2'])
  })

  it('stores no closures', async () => {
    const records = (await Promise.all([connected(createWorld()), connected(createWorld())])).map(
      ({ record }) => record,
    )

    for (const record of records) {
      expect(Object.values(record).filter((value) => typeof value === 'function')).toEqual([])
    }
  })
})
