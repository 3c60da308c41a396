import { formatEventId } from '@perdure/core'
import { toJsonText } from '@perdure/ports'
import { anEvent, aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { connected, createWorld, request, settled } from './connections.fixture.ts'

const TOPIC = 'agent:echo/events'
const subscribe = { subject: TOPIC }
const code = (name: string, value: number) => ({ code: value, reason: name })

const publish = (world: ReturnType<typeof createWorld>, count: number, payload = toJsonText({})) =>
  world.unitOfWork.commit([
    { type: 'event.append', events: Array.from({ length: count }, () => anEvent({ topic: TOPIC, payload })) },
  ])

describe('a JSON-RPC request', () => {
  it('is rejected before initialize', async () => {
    const { connection, socket } = createWorld().connect()
    socket.keepTaking()

    for (const method of ['ping', 'subscription.subscribe', 'initialize', 'initialize', 'ping']) {
      request(connection, method, method === 'subscription.subscribe' ? subscribe : {})
    }
    await settled()

    expect(socket.frames.map(({ error }) => error?.code)).toEqual([-32005, -32005, undefined, -32005, undefined])
  })

  it('returns the principal and the limits if its method is initialize', async () => {
    const { socket } = await connected(createWorld())

    expect(socket.frames[0]?.result).toEqual({
      serverInfo: { name: 'perdure', version: '0.0.0' },
      connectionId: 'con_1',
      principal: { subject: 'alice', scopes: ['admin:*'] },
      limits: { maxFrameBytes: 65_536, maxSubscriptions: 3, maxMessages: 100, messageWindowMs: 10_000 },
      heartbeatMs: 25_000,
    })
  })

  it.each([
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', 7, -32600],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', 7, -32600],
    ['{"jsonrpc":"2.0","v":"2","id":7,"method":"ping"}', 7, -32600],
    ['{"jsonrpc":"2.0","id":"a","method":"ping","extra":1}', 'a', -32600],
    ['{"jsonrpc":"2.0","method":"ping"}', null, -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600],
    ['[{"jsonrpc":"2.0","id":7,"method":"ping"}]', null, -32600],
    ['"ping"', null, -32600],
    ['null', null, -32600],
    ['{"jsonrpc":"2.0","id":7,"method":"toString"}', 7, -32601],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":{"nonce":1}}', 7, -32602],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":{"unknown":1}}', 7, -32602],
    ['{', null, -32700],
    ['', null, -32700],
  ])('is rejected without closing the connection if it is %s (id %j, code %d)', async (text, id, expected) => {
    const { connection, socket, call } = await connected(createWorld())

    connection.receive(text)
    await settled()

    expect(socket.frames.at(-1)).toMatchObject({ jsonrpc: '2.0', id, error: { code: expected } })
    expect((await call('ping', { nonce: 'n' })).result).toEqual({ nonce: 'n', at: '2025-01-01T00:00:00.000Z' })
  })

  it('closes the connection with 4008 if it is the third in a row that is not JSON', async () => {
    const { connection, socket } = await connected(createWorld())
    for (const text of ['{', '{', '[]', '{', '{']) connection.receive(text)
    await settled()
    expect(socket.closed).toBeUndefined()

    connection.receive('{')
    await settled()

    expect(socket.closed).toEqual(code('protocol.violation', 4008))
  })

  it('resets the count of invalid messages if it is valid JSON', async () => {
    const { connection, socket } = await connected(createWorld())
    for (const text of ['{', '{', '{"jsonrpc":"2.0","id":7,"method":"ping"}', '{', '{']) connection.receive(text)
    await settled()

    expect(socket.closed).toBeUndefined()
  })

  it('closes the connection with 4008 if it is binary or does not arrive within 10 s', async () => {
    const world = createWorld()
    const { connection, socket } = await connected(world)
    const silent = world.connect()

    connection.receiveBinary()
    world.clock.advance(9_999)
    expect(silent.socket.closed).toBeUndefined()
    world.clock.advance(1)

    expect(socket.closed).toEqual(code('protocol.violation', 4008))
    expect(silent.socket.closed).toEqual(code('protocol.violation', 4008))
  })

  it('closes the connection with 4005 if it exceeds the limit of messages per 10 s', async () => {
    const world = createWorld()
    const { connection, socket } = await connected(world)
    for (let sent = 1; sent < 100; sent++) request(connection, 'ping')
    await settled()
    world.clock.advance(9_999)
    expect(socket.closed).toBeUndefined()

    request(connection, 'ping')
    await settled()

    expect(socket.closed).toEqual(code('rate.limited', 4005))
    expect(socket.frames.at(-1)).toMatchObject({ kind: 'error', code: 'rate.limited' })
  })
})

describe('the WebSocket heartbeat', () => {
  it('terminates a connection that has missed two pongs', async () => {
    const { connection, socket } = await connected(createWorld())

    connection.beat()
    connection.pong()
    connection.beat()
    connection.beat()
    expect([socket.pings, socket.isTerminated]).toEqual([3, false])
    connection.beat()

    expect([socket.pings, socket.isTerminated]).toEqual([3, true])
  })
})

describe('a WebSocket subscription', () => {
  it('gets its response before its first event, and starts at the first event of a run', async () => {
    const world = createWorld()
    const run = aRun({ id: 'run_a', status: 'running' })
    const events = ['run.started', 'text.delta'].map((type) => anEvent({ runId: 'run_a', type }))
    await world.unitOfWork.commit([
      { type: 'run.insert', run },
      { type: 'event.append', events },
    ])
    const { call, socket } = await connected(world)

    const { result } = await call('subscription.subscribe', { subject: 'agent:echo/runs/run_a/events' })

    expect(result).toMatchObject({ recovered: false, replayedCount: 2, headEventId: 'e1.2' })
    expect(socket.frames.slice(1).map(({ kind, type }) => type ?? kind ?? 'answer')).toEqual([
      'answer',
      'run.started',
      'text.delta',
    ])
  })

  it('resumes after lastEventId or sinceEventId', async () => {
    const world = createWorld()
    await publish(world, 3)
    const { call, socket } = await connected(world)

    const first = await call('subscription.subscribe', { ...subscribe, lastEventId: 'e1.1' })
    const second = await call('subscription.subscribe', { ...subscribe, sinceEventId: 'e1.3' })

    expect(first.result).toMatchObject({ recovered: true, replayedCount: 2 })
    expect(second.result).toMatchObject({ recovered: true, replayedCount: 0 })
    expect(socket.frames.filter(({ kind }) => kind === 'event').map(({ eventId }) => eventId)).toEqual(['e1.2', 'e1.3'])
  })

  it.each(['other.1', 'e1.99'])('reports a gap for the cursor %s before what is available', async (lastEventId) => {
    const world = createWorld()
    await publish(world, 2)
    const { call, socket } = await connected(world)

    const { result } = await call('subscription.subscribe', { ...subscribe, lastEventId })

    expect(result).toMatchObject({ recovered: false, replayedCount: 2 })
    const [gap, ...rest] = socket.frames.slice(2)
    expect(gap).toMatchObject({
      ...{ kind: 'error', code: 'replay-gap', subject: TOPIC, subscriptionId: result?.subscriptionId },
      data: { firstAvailable: 'e1.1', lastEventId },
    })
    expect(rest.map(({ eventId }) => eventId)).toEqual(['e1.1', 'e1.2'])
  })

  it.each([
    [{ subject: 'agent:*/events' }, -32602],
    [{ ...subscribe, lastEventId: 'nonsense' }, -32602],
    [{ ...subscribe, lastEventId: 'e1.1', sinceEventId: 'e1.2' }, -32602],
    [{ subject: 'agent:echo/runs/run_none/events' }, -32010],
  ])('is rejected for params %j with code %d', async (params, expected) => {
    const { call } = await connected(createWorld())

    expect((await call('subscription.subscribe', params)).error?.code).toBe(expected)
  })

  it("is refused without the required scope and over the connection's limit of subscriptions", async () => {
    const world = createWorld()
    const { call } = await connected(world, { subject: 'alice', scopes: ['sessions:read'] })
    expect((await call('subscription.subscribe', subscribe)).error?.code).toBe(-32003)

    const many = await connected(world)
    for (let n = 0; n < 3; n++) await many.call('subscription.subscribe', subscribe)
    expect((await many.call('subscription.subscribe', subscribe)).error?.code).toBe(-32004)
  })

  it('can be ended only by its own connection', async () => {
    const world = createWorld()
    const [alice, bob] = [await connected(world), await connected(world)]
    const { result } = await alice.call('subscription.subscribe', subscribe)
    const { subscriptionId } = result as { readonly subscriptionId: string }

    expect((await bob.call('subscription.unsubscribe', { subscriptionId })).error?.code).toBe(-32011)
    await publish(world, 1)
    expect(alice.socket.frames.at(-1)).toMatchObject({ kind: 'event', subscriptionId })

    expect((await alice.call('subscription.unsubscribe', { subscriptionId })).result).toEqual({ unsubscribed: true })
    await publish(world, 1)
    expect(alice.socket.frames.filter(({ kind }) => kind === 'event')).toHaveLength(1)
    expect((await alice.call('subscription.unsubscribe', { subscriptionId })).error?.code).toBe(-32011)
  })

  it('ends with its session and does not deliver events of a later session with the same id', async () => {
    const world = createWorld()
    const { socket, call } = await connected(world)
    const { result } = await call('subscription.subscribe', { subject: 'session:chat/events' })
    const { subscriptionId } = result as { readonly subscriptionId: string }

    const events = ['session.deleted', 'session.created'].map((type) => anEvent({ sessionId: 'chat', type }))
    await world.unitOfWork.commit([{ type: 'event.append', events }])
    await settled()

    expect(socket.frames.filter(({ kind }) => kind === 'event').map(({ type }) => type)).toEqual(['session.deleted'])
    expect((await call('subscription.unsubscribe', { subscriptionId })).error?.code).toBe(-32011)
  })

  it('does not count events of a later session with the same id as replayed', async () => {
    const world = createWorld()
    const { socket, call } = await connected(world)
    const append = (...types: readonly string[]) =>
      world.unitOfWork.commit([
        { type: 'event.append', events: types.map((type) => anEvent({ sessionId: 'chat', type })) },
      ])
    await append('session.created')
    const { position, epoch } = await world.storage.events.head()
    await append('session.deleted', 'session.created', 'note.secret')
    const subscribeAfter = async (cursor: number) => {
      const params = { subject: 'session:chat/events', lastEventId: formatEventId({ epoch, position: cursor }) }
      return (await call('subscription.subscribe', params)).result
    }

    expect(await subscribeAfter(position)).toMatchObject({ recovered: true, replayedCount: 1 })
    await settled()
    expect(socket.frames.filter(({ kind }) => kind === 'event').map(({ type }) => type)).toEqual(['session.deleted'])
    expect(await subscribeAfter(position + 1)).toMatchObject({ recovered: true, replayedCount: 2 })
  })

  it('shares one rendering of each event with all other subscriptions to its subject', async () => {
    const world = createWorld()
    const clients = await Promise.all(Array.from({ length: 5 }, () => connected(world)))
    for (const { call } of clients) await call('subscription.subscribe', subscribe)

    await publish(world, 4)
    await settled()

    expect(clients.map(({ socket }) => socket.frames.filter(({ kind }) => kind === 'event').length)).toEqual([
      4, 4, 4, 4, 4,
    ])
    expect(world.rendered()).toBe(4)
  })
})
