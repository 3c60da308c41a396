import { createInMemoryStorage } from '@perdure/in-memory'
import { noMeter } from '@perdure/ports'
import { anEvent, createManualClock } from '@perdure/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { publishing } from '../commit/create-commit.ts'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createRenderEnvelope } from './envelope.ts'
import { createEventFeed } from './event-feed.ts'
import { createEventHub } from './event-hub.ts'
import { createHotCache } from './hot-cache.ts'
import { createLogWatch } from './log-watch.ts'

const LIMITS = { maxEvents: 1_000, ttlMs: 60_000, maxSubjectBytes: 2 ** 20, maxBytes: 2 ** 20 }
const sourceOf = (runId: string) => ({ stream: { runId }, subject: `run:${runId}`, epoch: 'e1' })
const flushPromises = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Two processes on one storage. Each publishes its own commits only; the first one has followers. */
function setUp() {
  const clock = createManualClock()
  const storage = createInMemoryStorage({ epoch: 'e1' })
  const hub = createEventHub(createHotCache(clock, LIMITS))
  const render = createRenderEnvelope({ meter: noMeter, policy: 'redact' })
  const feed = createEventFeed({ events: storage.events, hub, render })
  const own = publishing(storage.unitOfWork, { hub })
  const other = publishing(storage.unitOfWork, { hub: createEventHub(createHotCache(clock, LIMITS)) })
  const watch = createLogWatch({ clock, timers: clock, logger: silentLogger, events: storage.events, hub })
  onTestFinished(() => watch.stop())
  const appendTo = (unitOfWork: typeof own) => (runId: string) =>
    unitOfWork.commit([{ type: 'event.append', events: [anEvent({ runId })] }])

  const advance = async (ms: number) => {
    clock.advance(ms)
    await flushPromises()
  }

  /** The watch looks for unpublished events, and looks again to be sure. */
  const look = async () => {
    await advance(2_000)
    await advance(250)
  }

  /** Reads as a connection does: once at the start, then at each wake until nothing is left. */
  const follow = async (runId: string) => {
    const received: number[] = []
    let wakes = 0
    let reading = Promise.resolve()
    const readNext = async (): Promise<void> => {
      const { events } = await feed.read(sourceOf(runId), { after: received.at(-1) ?? 0, limit: 10 })
      received.push(...events.map(({ position }) => position))
      if (events.length > 0) await readNext()
    }
    const readAll = () => {
      reading = reading.then(readNext)
      return reading
    }
    hub.watch(
      { runId },
      {
        wake() {
          wakes++
          void readAll()
        },
      },
    )
    await readAll()
    return { received, wakes: () => wakes }
  }

  return { watch, look, advance, follow, storage, hub, own: appendTo(own), other: appendTo(other) }
}

describe('createLogWatch', () => {
  it('delivers the events of another process to a follower that has read to the end of the log', async () => {
    const { watch, look, follow, own, other } = setUp()
    watch.start()
    const { received } = await follow('x')
    await own('x')
    await look()

    await other('x')
    await other('x')
    await look()

    expect(received).toEqual([1, 2, 3])
  })

  it('delivers an event of another process that precedes a commit to another run', async () => {
    const { watch, look, follow, own, other } = setUp()
    watch.start()
    const { received } = await follow('x')
    await own('x')
    await look()

    await other('x')
    await own('y')
    await look()
    await other('x')
    await look()

    expect(received).toEqual([1, 2, 4])
  })

  it('delivers events to followers of both processes in the order of the log', async () => {
    const { watch, look, follow, own, other } = setUp()
    watch.start()
    const [x, y] = [await follow('x'), await follow('y')]

    for (let round = 0; round < 5; round++) {
      await own('x')
      await other('y')
      await other('x')
      await own('y')
      if (round % 2 === 0) await look()
    }
    await look()

    const odd = (position: number) => position % 4 === 1 || position % 4 === 3
    const all = Array.from({ length: 20 }, (_, index) => index + 1)
    expect(x.received).toEqual(all.filter(odd))
    expect(y.received).toEqual(all.filter((position) => !odd(position)))
  })

  it('wakes nobody while the log does not grow', async () => {
    const { watch, look, advance, follow, other } = setUp()
    await other('x')
    watch.start()
    await advance(0)
    const { received, wakes } = await follow('x')

    for (let round = 0; round < 3; round++) await look()

    expect([received, wakes()]).toEqual([[1], 0])
  })

  it('wakes only the followers of the run while only this process writes', async () => {
    const { watch, look, advance, follow, own } = setUp()
    watch.start()
    await advance(0)
    const { wakes } = await follow('y')

    for (let round = 0; round < 3; round++) {
      await own('x')
      await look()
    }

    expect(wakes()).toBe(0)
  })

  it('wakes nobody for a commit of this process that is published late', async () => {
    const { watch, advance, follow, storage, hub } = setUp()
    watch.start()
    await advance(0)
    const { wakes } = await follow('y')

    const outcome = await storage.unitOfWork.commit([{ type: 'event.append', events: [anEvent({ runId: 'x' })] }])
    await advance(2_000)
    if (outcome.committed) hub.publish(outcome.events)
    await advance(250)
    await advance(2_000)

    expect(wakes()).toBe(0)
  })
})
