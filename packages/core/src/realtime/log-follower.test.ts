import { createInMemoryStorage, shareInMemoryStorage } from '@perdure/in-memory'
import { noMeter, type TailedEvent } from '@perdure/ports'
import { anEvent, aSession, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { publishing } from '../commit/create-commit.ts'
import { createRenderEnvelope } from './envelope.ts'
import { createEventFeed } from './event-feed.ts'
import { createEventHub } from './event-hub.ts'
import { createHotCache } from './hot-cache.ts'
import { createLogFollower } from './log-follower.ts'

const LIMITS = { maxEvents: 1_000, ttlMs: 60_000, maxSubjectBytes: 2 ** 20, maxBytes: 2 ** 20 }
const sourceOf = (runId: string) => ({ stream: { runId }, subject: `run:${runId}`, epoch: 'e1' })
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

function createProcess(join: ReturnType<typeof shareInMemoryStorage>) {
  const storage = join()
  const hub = createEventHub(createHotCache(createManualClock(), LIMITS))
  const render = createRenderEnvelope({ meter: noMeter, policy: 'redact' })
  const reads: string[] = []
  const events: typeof storage.events = {
    ...storage.events,
    read: (stream, range) => {
      reads.push(JSON.stringify(stream))
      return storage.events.read(stream, range)
    },
  }
  const answers = new Map([['key', 'answer']])
  const foreign: TailedEvent[] = []
  const signals: string[] = []
  const follower = createLogFollower({
    ...{ hub, answers, isWaiting: () => false, onSkip: () => signals.push('skip') },
    onForeignEvent: (event) => foreign.push(event),
    onSignal: ({ type }) => signals.push(type),
  })
  storage.tail?.follow(follower)
  const { commit } = publishing(storage.unitOfWork, { hub, answers, hasTail: true })
  return { hub, reads, answers, foreign, signals, follower, commit, feed: createEventFeed({ events, hub, render }) }
}

const twoProcesses = () => {
  const join = shareInMemoryStorage(createInMemoryStorage({ epoch: 'e1' }))
  return { mine: createProcess(join), other: createProcess(join) }
}

const append = (runId: string) => ({ type: 'event.append', events: [anEvent({ runId })] }) as const

describe('createLogFollower', () => {
  it('wakes the readers of a stream for events of every process, which they read from memory', async () => {
    const { mine, other } = twoProcesses()
    let woken = 0
    mine.feed.watch(sourceOf('x'), { wake: () => woken++ })
    await mine.commit([append('y')])
    await mine.commit([append('x')])
    await other.commit([append('x')])
    await nextTurn()

    const { events } = await mine.feed.read(sourceOf('x'), { after: 1, limit: 10 })
    expect([woken, events.map(({ position }) => position), mine.reads]).toEqual([2, [2, 3], []])
    expect(mine.foreign.map(({ position }) => position)).toEqual([3])
  })

  it('lets readers read an event without its payload from the log', async () => {
    const { mine, other } = twoProcesses()
    mine.feed.watch(sourceOf('x'), { wake: () => undefined })
    await mine.commit([append('x')])
    await other.commit([append('x')])
    const { payload: _, ...event } = { ...anEvent({ runId: 'x' }), position: 2 }
    mine.follower.deliver({ events: [event], foreign: [event], signals: [] })

    const { events } = await mine.feed.read(sourceOf('x'), { after: 0, limit: 10 })
    expect([events.map(({ position }) => position), mine.reads]).toEqual([[1, 2], ['{"runId":"x"}']])
  })

  it('discards the cached events and answers when another process deletes something', async () => {
    const { mine, other } = twoProcesses()
    mine.feed.watch(sourceOf('x'), { wake: () => undefined })
    await mine.commit([{ type: 'session.insert', session: aSession() }])
    await mine.commit([{ type: 'event.append', events: [anEvent({ runId: 'x', sessionId: aSession().id })] }])
    await mine.feed.read(sourceOf('x'), { after: 0, limit: 10 })

    await other.commit([{ type: 'session.delete', id: aSession().id, answer: { status: 404, body: '' } }])
    await nextTurn()

    expect((await mine.feed.read(sourceOf('x'), { after: 0, limit: 10 })).events).toEqual([])
    expect([mine.answers.size, mine.signals]).toEqual([0, ['deleted']])
  })

  it('wakes every reader and discards the cached answers when events were skipped', async () => {
    const { mine } = twoProcesses()
    let woken = 0
    mine.feed.watch(sourceOf('x'), { wake: () => woken++ })

    mine.follower.skip(9_000)

    expect([woken, mine.answers.size, mine.signals, mine.hub.misses(9_000)]).toEqual([1, 0, ['skip'], false])
  })
})
