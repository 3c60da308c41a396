import type { Storage } from '@perdure/ports'
import { anEvent, createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { trimmed } from '../sse/run-log.fixture.ts'
import { createWorld, type FakeSocket, request, settled } from './connections.fixture.ts'

type Step =
  | { readonly do: 'publish'; readonly count: number }
  | { readonly do: 'publish-elsewhere'; readonly count: number }
  | { readonly do: 'take'; readonly frames: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'reconnect' }
  | { readonly do: 'trim-and-reconnect' }
  | { readonly do: 'lose-the-database' }
  | { readonly do: 'resume-anywhere'; readonly back: number }
  | { readonly do: 'settle' }

const count = (max: number) => fc.integer({ min: 1, max })
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ do: fc.constant('publish' as const), count: count(150) }), weight: 5 },
  { arbitrary: fc.record({ do: fc.constant('publish-elsewhere' as const), count: count(20) }), weight: 2 },
  { arbitrary: fc.record({ do: fc.constant('take' as const), frames: count(60) }), weight: 5 },
  { arbitrary: fc.record({ do: fc.constant('pass' as const), ms: count(3_000) }), weight: 2 },
  { arbitrary: fc.constant({ do: 'settle' } as const), weight: 2 },
  { arbitrary: fc.constant({ do: 'reconnect' } as const), weight: 2 },
  { arbitrary: fc.constant({ do: 'trim-and-reconnect' } as const), weight: 1 },
  { arbitrary: fc.constant({ do: 'lose-the-database' } as const), weight: 1 },
  { arbitrary: fc.record({ do: fc.constant('resume-anywhere' as const), back: count(300) }), weight: 1 },
)

const SUBJECT = 'agent:echo/events'
const positionOf = (eventId: string | undefined) => Number(eventId?.split('.')[1])

/** A server, and a client that collects events over many connections. */
function createModel() {
  const clock = createManualClock()
  let trimmedThrough = 0
  let epochs = 0
  const cache = { maxEvents: 60, ttlMs: 5_000, maxSubjectBytes: 60_000, maxBytes: 80_000 }
  const eventsOf = ({ events }: Storage) => ({
    ...events,
    read: (...args: Parameters<typeof events.read>) => trimmed(events, trimmedThrough).read(...args),
    head: () => trimmed(events, trimmedThrough).head(),
  })
  const open = () => createWorld({ epoch: `e${++epochs}`, clock, cache, eventsOf })
  let world = open()
  let socket: FakeSocket | undefined
  let taken = 0
  /** What the client received: starting position, gaps and event positions. */
  let told: number[] = []
  let expected: number[] = []
  let lastEventId: string | undefined
  const count = { gaps: 0, events: 0 }

  const publishedAfter = async (position: number) => {
    const events = await world.storage.events.read({ topic: SUBJECT }, { after: position, limit: 100_000 })
    return events.map((event) => event.position)
  }

  const collect = () => {
    const frames = socket?.frames.slice(taken) ?? []
    taken += frames.length
    for (const { kind, eventId } of frames) {
      if (kind !== 'event') continue
      told.push(positionOf(eventId))
      lastEventId = eventId
    }
  }

  const publish = async (topic: string, many: number) => {
    const events = Array.from({ length: many }, () => anEvent({ topic, payload: '"xxxxxxxxxxxxxxxxxxxx"' as never }))
    await world.unitOfWork.commit([{ type: 'event.append', events }])
  }

  /** Closes the connection and checks that the client received a prefix of the events due. */
  const leave = () => {
    collect()
    socket = undefined
    count.events += told.length
    expect(told).toEqual(expected.slice(0, told.length))
  }

  const connect = async () => {
    leave()
    const { head } = world.storage.events
    const { position, epoch } = await head()
    const cursor = lastEventId === undefined ? position : positionOf(lastEventId)
    const isKnown = lastEventId === undefined || lastEventId.startsWith(`${epoch}.`)
    const isGap = lastEventId !== undefined && (!isKnown || cursor < trimmedThrough)
    const { connection, socket: opened } = world.connect()
    socket = opened
    taken = 0
    request(connection, 'initialize')
    const id = request(connection, 'subscription.subscribe', { subject: SUBJECT, lastEventId })
    opened.take()
    await settled()
    while (!opened.frames.some((frame) => frame.id === id)) {
      opened.take(1)
      await settled()
    }
    if (isGap) opened.take(1)
    const after = opened.frames.slice(opened.frames.findIndex((frame) => frame.id === id) + 1)
    expect(after.some(({ code }) => code === 'replay-gap')).toBe(isGap)
    if (isGap) {
      count.gaps++
      expect(after[0]?.code).toBe('replay-gap')
    }
    told = []
    expected = await publishedAfter(isGap ? (isKnown ? Math.max(cursor, trimmedThrough) : trimmedThrough) : cursor)
    lastEventId ??= `${epoch}.${position}`
  }

  return {
    count,
    connect,
    settle: settled,
    async publish(many: number) {
      await publish(SUBJECT, many)
      const last = expected.at(-1) ?? told.at(-1) ?? 0
      const { position } = await world.storage.events.head()
      expected.push(...Array.from({ length: many }, (_, n) => position - many + 1 + n).filter((one) => one > last))
    },
    publishElsewhere: (many: number) => publish('agent:other/events', many),
    async take(frames: number) {
      for (let frame = 0; frame < frames; frame++) socket?.take(1)
      await settled()
      collect()
    },
    pass: (ms: number) => clock.advance(ms),
    async trimAndReconnect() {
      trimmedThrough = Math.max(trimmedThrough, Math.floor((await world.storage.events.head()).position / 2))
      await connect()
    },
    async loseTheDatabase() {
      leave()
      told = []
      trimmedThrough = 0
      world = open()
      await publish(SUBJECT, 3)
      await connect()
    },
    /** Acts like a client that has stored only an older cursor. */
    async resumeAnywhere(back: number) {
      leave()
      const { epoch, position } = await world.storage.events.head()
      lastEventId = `${epoch}.${Math.max(0, position - back)}`
      told = []
      expected = []
      await connect()
    },
    async finish() {
      if (socket?.closed !== undefined) await connect()
      socket?.keepTaking()
      for (let turn = 0; turn < 200 && told.length < expected.length; turn++) {
        await settled()
        collect()
      }
      expect(told).toEqual(expected)
      leave()
    },
  }
}

describe('WebSocket delivery', () => {
  it('sends every published event that no gap covers, once and in order', async () => {
    const total = { gaps: 0, events: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
        const model = createModel()
        await model.connect()
        for (const one of steps) {
          if (one.do === 'publish') await model.publish(one.count)
          else if (one.do === 'publish-elsewhere') await model.publishElsewhere(one.count)
          else if (one.do === 'take') await model.take(one.frames)
          else if (one.do === 'pass') model.pass(one.ms)
          else if (one.do === 'reconnect') await model.connect()
          else if (one.do === 'trim-and-reconnect') await model.trimAndReconnect()
          else if (one.do === 'lose-the-database') await model.loseTheDatabase()
          else if (one.do === 'resume-anywhere') await model.resumeAnywhere(one.back)
          else await model.settle()
        }
        await model.finish()
        total.gaps += model.count.gaps
        total.events += model.count.events
      }),
      { numRuns: 150 },
    )
    expect(total.gaps).toBeGreaterThan(50)
    expect(total.events).toBeGreaterThan(10_000)
  })
})
