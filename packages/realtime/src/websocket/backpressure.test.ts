import { toJsonText } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createWorld, request, settled, type WorldOptions } from './connections.fixture.ts'

const SUBJECT = 'agent:echo/events'
const THROTTLED = { code: 4006, reason: 'flow.throttled' }
const KIB = toJsonText('x'.repeat(1_000))

/** A client that subscribes and then stops reading. */
async function setUp(options?: WorldOptions) {
  const world = createWorld(options)
  const { connection, socket } = world.connect()
  request(connection, 'initialize')
  request(connection, 'subscription.subscribe', { subject: SUBJECT })
  await settled()
  socket.take()
  await settled()
  const publish = async (count: number) => {
    const events = Array.from({ length: count }, () => anEvent({ topic: SUBJECT, payload: KIB }))
    await world.unitOfWork.commit([{ type: 'event.append', events }])
    await settled()
  }
  const received = () => socket.frames.filter(({ kind }) => kind === 'event').length
  return { ...world, connection, socket, publish, received }
}

describe('a WebSocket client that reads nothing', () => {
  it('receives a bounded amount of data and is closed with 4006 after 10 s', async () => {
    const { publish, socket, clock } = await setUp()
    await publish(1_000)
    expect(socket.unsentBytes()).toBeLessThan(70_000)

    clock.advance(9_999)
    expect(socket.closed).toBeUndefined()
    clock.advance(1)

    expect(socket.closed).toEqual(THROTTLED)
  })

  it('is terminated 5 s after a close frame that the client does not read', async () => {
    const { publish, socket, clock } = await setUp()
    await publish(1_000)
    clock.advance(10_000)

    clock.advance(4_999)
    expect(socket.isTerminated).toBe(false)
    clock.advance(1)

    expect(socket.isTerminated).toBe(true)
  })

  it('is not terminated if it has already disconnected', async () => {
    const { connection, publish, socket, clock } = await setUp()
    await publish(1_000)
    clock.advance(10_000)
    connection.closed()

    clock.advance(5_000)

    expect(socket.isTerminated).toBe(false)
  })

  it('stays connected while no event is waiting to be sent', async () => {
    const { publish, socket, clock } = await setUp()
    await publish(10)

    clock.advance(600_000)

    expect(socket.closed).toBeUndefined()
  })

  it('is closed with 4006 if more than 1 MiB of responses is unsent for 10 s', async () => {
    const { connection, socket, clock } = await setUp({ limits: { maxMessages: 100_000 } })
    for (let sent = 0; sent < 12_000; sent++) request(connection, 'ping', { nonce: 'x'.repeat(64) })
    await settled()
    expect(socket.unsentBytes()).toBeGreaterThan(2 ** 20)

    clock.advance(9_999)
    expect(socket.closed).toBeUndefined()
    clock.advance(1)

    expect(socket.closed).toEqual(THROTTLED)
  })

  it('is closed with 4006 immediately if more than 8 MiB is unsent', async () => {
    const { connection, socket } = await setUp({ limits: { maxMessages: 100_000, maxUnsentBurstBytes: 2 ** 20 } })
    for (let sent = 0; sent < 12_000; sent++) request(connection, 'ping', { nonce: 'x'.repeat(64) })
    await settled()

    expect(socket.closed).toEqual(THROTTLED)
  })
})

describe('a slow WebSocket client', () => {
  it('gets every event in order as long as it keeps reading', async () => {
    const { publish, socket, clock, received } = await setUp()
    await publish(1_000)

    let seconds = 0
    while (received() < 1_000 && socket.closed === undefined) {
      socket.take(30)
      await settled()
      clock.advance(9_000)
      seconds += 9
    }

    expect(socket.closed).toBeUndefined()
    expect(seconds).toBeGreaterThan(250)
    const positions = socket.frames.filter(({ kind }) => kind === 'event').map(({ eventId }) => eventId)
    expect(positions).toEqual(Array.from({ length: 1_000 }, (_, n) => `e1.${n + 1}`))
  })

  it('does not delay other clients', async () => {
    const { publish, connect, received } = await setUp()
    const fast = connect()
    fast.socket.keepTaking()
    request(fast.connection, 'initialize')
    request(fast.connection, 'subscription.subscribe', { subject: SUBJECT })
    await settled()

    await publish(1_000)
    for (let turn = 0; turn < 50; turn++) await settled()

    expect(fast.socket.frames.filter(({ kind }) => kind === 'event')).toHaveLength(1_000)
    expect(received()).toBe(0)
  })
})
