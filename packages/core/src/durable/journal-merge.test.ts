import { createInMemoryStorage } from '@perdure/in-memory'
import { storageBusy, toJsonText, type UnitOfWork, type Write } from '@perdure/ports'
import { anEvent, aRun, createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createEventCollector, type EventCollector, type EventSource, GROUP_SIZE } from './event-collector.ts'
import { createJournal } from './journal.ts'

const RUN = aRun({ id: 'run_1', status: 'running' })

/** A journal whose collector is replaced in part; by default many runs emit and the storage is slow. */
async function setUp(over: Partial<EventCollector> = { isCrowded: () => true }) {
  const storage = createInMemoryStorage()
  await storage.unitOfWork.commit([{ type: 'run.insert', run: RUN }])
  const clock = createManualClock()
  const commits: (readonly Write[])[] = []
  const unitOfWork: UnitOfWork = {
    commit(writes) {
      commits.push(writes)
      return storage.unitOfWork.commit(writes)
    },
  }
  const parts = { unitOfWork, clock, timers: clock, logger: silentLogger, maxEventBytes: 60 }
  const journal = createJournal({ ...parts, collector: { ...createEventCollector(parts), ...over } }, RUN)
  const say = (delta: string, more: object = {}) => journal.emit('text.delta', { delta, ...more })
  /** The texts, and the types of all other events. */
  const log = async () =>
    (await storage.events.read({ runId: RUN.id }, { after: 0, limit: 1_000 })).map(({ type, payload }) =>
      type === 'text.delta' ? String(JSON.parse(payload).delta) : type,
    )
  /** Emits, and returns when the commit of the event is in flight. */
  const begin = async () => {
    const first = say('Once')
    await Promise.resolve()
    await Promise.resolve()
    return [first] as const
  }
  return { storage, journal, commits, say, log, begin }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const piece = anEvent({ runId: RUN.id, type: 'text.delta', payload: toJsonText({ delta: 'of a call' }) })
const entry = { writes: [{ type: 'run.fence', runId: RUN.id, attempt: 1 }] } as const

describe('pieces of a text that are emitted while a commit is in flight', () => {
  it('become one event, with one position, when many runs emit', async () => {
    const { say, log, begin, storage } = await setUp()
    const [first] = await begin()

    await Promise.all([first, say(' upon'), say(' a'), say(' time')])

    expect(await log()).toEqual(['Once', ' upon a time'])
    expect(
      (await storage.events.read({ runId: RUN.id }, { after: 1, limit: 9 })).map(({ position }) => position),
    ).toEqual([2])
  })

  it('stay events of their own otherwise', async () => {
    const { say, log, begin } = await setUp({})
    const [first] = await begin()

    await Promise.all([first, say(' upon'), say(' a')])

    expect(await log()).toEqual(['Once', ' upon', ' a'])
  })

  it('stay events of their own when they come in the same tick, before any commit', async () => {
    const { say, log } = await setUp()

    await Promise.all([say('Once'), say(' upon')])

    expect(await log()).toEqual(['Once', ' upon'])
  })

  it('are never merged across another event or a durable call', async () => {
    const { journal, say, log, begin } = await setUp()
    const [first] = await begin()

    await Promise.all([
      first,
      ...[say('a'), say('b'), journal.emit('note.said', {}), say('c'), say('d')],
      ...[journal.record({ ...entry, events: [piece] }), say('e'), say('f')],
    ])

    expect(await log()).toEqual(['Once', 'ab', 'note.said', 'cd', 'of a call', 'ef'])
  })

  it('are merged up to the limit of a payload', async () => {
    const { say, log, begin } = await setUp()
    const [first] = await begin()
    const word = 'x'.repeat(20)

    await Promise.all([first, say(word), say(word), say(word)])

    expect(await log()).toEqual(['Once', word + word, word])
  })

  it('lose and double no text, whatever their timing, and also if the attempt ends', async () => {
    const step = fc.oneof(fc.constantFrom('say', 'note', 'call', 'other'), fc.nat(4))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.boolean(), async (steps, isClosed) => {
        const { journal, say, log, storage } = await setUp()
        const expected: string[] = []
        const durable: Promise<unknown>[] = []
        for (const [n, one] of steps.entries()) {
          if (typeof one === 'number') for (let microtask = 0; microtask < one; microtask++) await undefined
          else if (one === 'note') durable.push(journal.emit('note.said', {}))
          else if (one === 'call') durable.push(journal.record(entry))
          else durable.push(say(`${n},`, one === 'other' ? { blockId: 'b' } : {}))
          if (one === 'note') expected.push('note.said')
          if (one === 'say' || one === 'other') expected.push(`${n},`)
        }
        if (isClosed) {
          const rest = await journal.close()
          await storage.unitOfWork.commit([{ type: 'event.append', events: rest.events }])
          rest.settle(true)
          await Promise.allSettled(durable)
        } else await Promise.all(durable)

        expect((await log()).join('')).toBe(expected.join(''))
      }),
    )
  })
})

describe('events that wait for the collector', () => {
  it('are committed with a durable call, before it, without waiting', async () => {
    const { journal, say, log, commits } = await setUp({ add: () => undefined })
    const said = say('Once')
    await turn()
    expect(commits).toEqual([])

    await Promise.all([said, journal.record({ ...entry, events: [] }), journal.emit('note.said', {})])

    expect(await log()).toEqual(['Once', 'note.said'])
    expect(commits).toHaveLength(1)
  })

  it('are returned by close', async () => {
    const { journal, say } = await setUp({ add: () => undefined })
    const said = say('Once')
    await turn()

    const { events, settle } = await journal.close()
    settle(true)

    expect(events.map(({ type }) => type)).toEqual(['text.delta'])
    await expect(said).resolves.toBeUndefined()
  })

  it('let flush wait until they are durable', async () => {
    const { journal, say, log, begin } = await setUp()
    await begin()
    say(' upon')
    expect(journal.isIdle()).toBe(false)

    await journal.flush()

    expect(journal.isIdle()).toBe(true)
    expect(await log()).toEqual(['Once', ' upon'])
  })
})

describe('events that the collector commits', () => {
  /** A collector that takes the events at once, and settles them when the test does. */
  const setUpHeld = async () => {
    const held: { source: EventSource; types: readonly string[] }[] = []
    const add = (source: EventSource) =>
      void held.push({ source, types: source.take(GROUP_SIZE).map(({ payload }) => String(JSON.parse(payload).delta)) })
    const parts = await setUp({ add })
    parts.say('first')
    await turn()
    parts.say('second')
    return { ...parts, held, newest: () => held.at(-1) as (typeof held)[number] }
  }

  it('let close wait for the commit, which may store them', async () => {
    const { journal, newest } = await setUpHeld()
    let isClosed = false
    const closing = journal.close().finally(() => {
      isClosed = true
    })
    await turn()
    expect(isClosed).toBe(false)

    newest().source.settle({ isStored: true })

    expect((await closing).events.map(({ payload }) => payload)).toEqual(['{"delta":"second"}'])
  })

  it('keep their order when a busy storage refuses them, also in what close returns', async () => {
    const { journal, held, newest } = await setUpHeld()

    newest().source.settle({ error: storageBusy() })
    expect(held.map(({ types }) => types)).toEqual([['first'], ['first', 'second']])

    const closing = journal.close()
    newest().source.settle({ error: storageBusy() })
    expect((await closing).events.map(({ payload }) => payload)).toEqual(['{"delta":"first"}', '{"delta":"second"}'])
  })

  it('are in one group at a time', async () => {
    const { held, newest } = await setUpHeld()
    await turn()
    expect(held).toHaveLength(1)

    newest().source.settle({ isStored: true })

    expect(held.map(({ types }) => types)).toEqual([['first'], ['second']])
  })
})
