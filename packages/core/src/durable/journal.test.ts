import { createInMemoryStorage } from '@perdure/in-memory'
import { perdureError, storageBusy, toJsonText, type UnitOfWork, type Write } from '@perdure/ports'
import { anEvent, aRun, aStep, createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createEventCollector } from './event-collector.ts'
import { createJournal } from './journal.ts'

const RUN = aRun({ id: 'run_1', status: 'running', sessionId: 'chat' })
const message = anEvent({ runId: RUN.id })

async function setUp() {
  const storage = createInMemoryStorage()
  await storage.unitOfWork.commit([{ type: 'run.insert', run: RUN }])
  const commits: (readonly Write[])[] = []
  let failure: unknown
  const unitOfWork: UnitOfWork = {
    commit(writes) {
      commits.push(writes)
      return failure === undefined ? storage.unitOfWork.commit(writes) : Promise.reject(failure)
    },
  }
  const clock = createManualClock()
  const parts = { unitOfWork, clock, timers: clock, logger: silentLogger, maxEventBytes: 20 }
  const journal = createJournal({ ...parts, collector: createEventCollector(parts) }, RUN)
  const log = () => storage.events.read({ runId: RUN.id }, { after: 0, limit: 1_000 })
  const types = async () => (await log()).map(({ type }) => type)
  const end = () =>
    storage.unitOfWork.commit([
      { type: 'run.transition', runId: RUN.id, from: ['running'], attempt: 1, change: { status: 'aborted' } },
    ])
  return { journal, clock, commits, log, types, end, storage, fail: (error: unknown) => (failure = error) }
}

const eventCounts = (commits: readonly (readonly Write[])[]) =>
  commits.map((writes) => writes.map((write) => ('events' in write ? write.events.length : 0)))

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve))

const NOT_ACTIVE = { code: 'run-not-active' }

describe('emit', () => {
  it('resolves once the event is in the logs of the run and of its session', async () => {
    const { journal, log, storage } = await setUp()

    await journal.emit('note.said', { n: 1 }, 'commentary')

    expect(await log()).toMatchObject([
      { type: 'note.said', payload: '{"n":1}', phase: 'commentary', runId: 'run_1', sessionId: 'chat' },
    ])
    expect(await storage.events.read({ sessionId: 'chat' }, { after: 0, limit: 9 })).toHaveLength(1)
  })

  it('keeps the order of calls, and commits events emitted during a commit with the next commit', async () => {
    const { journal, commits, types } = await setUp()

    const first = journal.emit('note.a', {})
    await Promise.resolve()
    await Promise.resolve()
    await Promise.all([first, journal.emit('note.b', {}), journal.emit('note.c', {})])

    expect(await types()).toEqual(['note.a', 'note.b', 'note.c'])
    expect(commits).toHaveLength(2)
  })

  it('keeps the order of calls whatever their timing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(6), { maxLength: 30 }), async (pauses) => {
        const { journal, log } = await setUp()
        const durable: Promise<void>[] = []
        for (const [n, pause] of pauses.entries()) {
          durable.push(journal.emit('note.n', { n }))
          for (let microtask = 0; microtask < pause; microtask++) await undefined
        }
        await Promise.all(durable)

        expect((await log()).map(({ payload }) => JSON.parse(payload).n)).toEqual(pauses.map((_, n) => n))
      }),
    )
  })

  it('merges consecutive events into one write, whatever their number', async () => {
    const { journal, commits, log } = await setUp()

    await Promise.all(Array.from({ length: 900 }, (_, n) => journal.emit('note.n', { n })))

    expect(eventCounts(commits)).toEqual([[900]])
    expect((await log()).map(({ payload }) => JSON.parse(payload).n)).toEqual(Array.from({ length: 900 }, (_, n) => n))
  })

  it('commits at most 256 KiB of events together, and a longer event alone', async () => {
    const { journal, commits } = await setUp()

    const long = (kibibytes: number) => ({ ...message, payload: toJsonText({ text: 'x'.repeat(kibibytes * 1_024) }) })
    const sizes = [...Array.from({ length: 60 }, () => 10), 300, 10]
    await Promise.all(sizes.map((size) => journal.record({ events: [long(size)] })))

    const counts = eventCounts(commits).flat()
    expect(counts.slice(0, -3).every((count) => count >= 20 && count <= 25)).toBe(true)
    expect(counts.reduce((sum, count) => sum + count)).toBe(62)
    expect(counts.slice(-2)).toEqual([1, 1])
  })

  it('commits at most 128 entries with writes together', async () => {
    const { journal, commits } = await setUp()
    const entry = { writes: [{ type: 'run.fence', runId: 'other', attempt: 1, execution: 1 }] } as const

    await Promise.allSettled(Array.from({ length: 200 }, () => journal.record(entry)))

    expect(commits.map((writes) => writes.length)).toEqual([129, 73])
  })

  it('commits fewer entries with writes together when their texts are long, and a longer one alone', async () => {
    const { journal, commits } = await setUp()
    const call = (seq: number, length: number): Write => ({
      type: 'step.insert',
      step: aStep({ runId: RUN.id, seq, result: toJsonText('x'.repeat(length)) }),
    })
    const lengths = [...Array.from({ length: 20 }, () => 1_048_576), 8_388_608, 1]

    await Promise.all(lengths.map((length, seq) => journal.record({ writes: [call(seq + 1, length)] })))

    expect(commits.map((writes) => writes.length - 1)).toEqual([3, 3, 3, 3, 3, 3, 2, 1, 1])
  })

  it('stores an empty object for an event without payload', async () => {
    const { journal, log } = await setUp()

    await journal.emit('note.said', undefined)

    expect((await log())[0]?.payload).toBe('{}')
  })

  it.each([['run.started'], ['session.message'], ['Loud'], [''], ['note..x'], ['x'.repeat(129)]])(
    'rejects the event type %j',
    async (type) => {
      const { journal, commits } = await setUp()

      expect(() => journal.emit(type, {})).toThrow(expect.objectContaining({ kind: 'validation-failed' }))
      await journal.flush()
      expect(commits).toEqual([])
    },
  )

  it('enforces the limit of a payload in bytes', async () => {
    const { journal } = await setUp()

    await expect(journal.emit('note.said', { t: 'x'.repeat(12) })).resolves.toBeUndefined()
    expect(() => journal.emit('note.said', { t: 'x'.repeat(13) })).toThrow('longer than 20 bytes')
    expect(() => journal.emit('note.said', { t: 'é'.repeat(7) })).toThrow('longer than 20 bytes')
  })

  it('rejects an event of a run that has ended', async () => {
    const { journal, types, end } = await setUp()
    await end()

    await expect(journal.emit('note.late', {})).rejects.toMatchObject(NOT_ACTIVE)
    expect(await types()).toEqual([])
  })

  it('rejects an event of an earlier attempt', async () => {
    const { journal, types, storage } = await setUp()
    await storage.unitOfWork.commit([
      { type: 'run.transition', runId: RUN.id, from: ['running'], attempt: 1, change: { attempt: 2 } },
    ])

    await expect(journal.emit('note.stale', {})).rejects.toMatchObject(NOT_ACTIVE)
    expect(await types()).toEqual([])
  })

  it('rejects an event that the storage refused, and stores the next event', async () => {
    const { journal, types, fail } = await setUp()
    fail(perdureError('storage-full'))
    await expect(journal.emit('note.lost', {})).rejects.toMatchObject({ kind: 'storage-full' })
    fail(undefined)

    await journal.emit('note.kept', {})

    expect(await types()).toEqual(['note.kept'])
  })

  it.each([storageBusy(), perdureError('storage-unavailable')])('retries after %s', async (error) => {
    const { journal, types, fail, clock } = await setUp()
    fail(error)
    const kept = journal.emit('note.kept', {})
    const next = journal.emit('note.next', {})
    await nextTick()

    fail(undefined)
    clock.advance(100)

    await Promise.all([kept, next])
    expect(await types()).toEqual(['note.kept', 'note.next'])
  })

  it('returns the refused events when the attempt ends while the storage is busy', async () => {
    const { journal, types, fail } = await setUp()
    fail(storageBusy())
    const kept = journal.emit('note.kept', {})
    await nextTick()

    const { events, settle } = await journal.close()
    settle(true)

    expect(events.map(({ type }) => type)).toEqual(['note.kept'])
    await expect(kept).resolves.toBeUndefined()
    expect(await types()).toEqual([])
  })

  it('causes no unhandled rejection when an event that is not awaited is lost', async () => {
    const { journal, end } = await setUp()
    await end()

    journal.emit('note.late', {})
    await new Promise((resolve) => setImmediate(resolve))

    await expect(journal.emit('note.late', {})).rejects.toMatchObject(NOT_ACTIVE)
  })
})

describe('record', () => {
  it('stores an entry in its position between events of the same tick', async () => {
    const { journal, commits, types, storage } = await setUp()
    const writes = [{ type: 'run.insert', run: aRun({ id: 'run_2' }) }] as const

    await Promise.all([
      journal.emit('note.a', {}),
      journal.record({ writes, events: [{ ...message, type: 'note.b' }] }),
      journal.emit('note.c', {}),
    ])

    expect(await types()).toEqual(['note.a', 'note.b', 'note.c'])
    expect(await storage.runs.find('run_2', 'every-row')).toBeDefined()
    expect(commits).toHaveLength(1)
  })

  it('shares no commit with an entry of recordAlone', async () => {
    const { journal, commits, types } = await setUp()

    await Promise.all([
      journal.emit('note.a', {}),
      journal.recordAlone({ events: [{ ...message, type: 'note.b' }] }),
      journal.emit('note.c', {}),
    ])

    expect(await types()).toEqual(['note.a', 'note.b', 'note.c'])
    expect(commits).toHaveLength(3)
  })

  it('commits the writes and events of an entry together or not at all', async () => {
    const { journal, types, storage } = await setUp()
    const taken = { type: 'run.insert', run: RUN } as const
    const fresh = { type: 'run.insert', run: aRun({ id: 'run_2' }) } as const

    await journal.record({ writes: [fresh], events: [{ ...message, type: 'note.kept' }] })
    const refused = journal.record({ writes: [taken], events: [{ ...message, type: 'note.lost' }] })

    await expect(refused).rejects.toMatchObject(NOT_ACTIVE)
    expect(await types()).toEqual(['note.kept'])
    expect(await storage.runs.find('run_2', 'every-row')).toBeDefined()
  })
})

describe('close', () => {
  it('waits for the current commit and returns the remaining events', async () => {
    const { journal, types } = await setUp()
    const written = journal.emit('note.written', {})
    await Promise.resolve()
    await Promise.resolve()
    const rest = journal.emit('note.rest', {})

    const unwritten = await journal.close()

    await expect(written).resolves.toBeUndefined()
    expect(await types()).toEqual(['note.written'])
    expect(unwritten.events.map(({ type }) => type)).toEqual(['note.rest'])
    unwritten.settle(true)
    await expect(rest).resolves.toBeUndefined()
  })

  it('rejects the remaining events if the caller could not store them', async () => {
    const { journal } = await setUp()
    const rest = journal.emit('note.rest', {})

    const unwritten = await journal.close()
    unwritten.settle(false)

    await expect(rest).rejects.toMatchObject(NOT_ACTIVE)
  })

  it('rejects a remaining entry that contains writes', async () => {
    const { journal } = await setUp()
    const entry = journal.record({ writes: [{ type: 'run.fence', runId: RUN.id, attempt: 1 }], events: [message] })

    const unwritten = await journal.close()
    unwritten.settle(true)

    expect(unwritten.events).toEqual([])
    await expect(entry).rejects.toMatchObject(NOT_ACTIVE)
  })

  it('rejects everything emitted or recorded later', async () => {
    const { journal, commits } = await setUp()
    await journal.close()

    expect(() => journal.emit('note.late', {})).toThrow(expect.objectContaining(NOT_ACTIVE))
    await expect(journal.record({ events: [message] })).rejects.toMatchObject(NOT_ACTIVE)
    expect(await journal.close()).toMatchObject({ events: [] })
    expect(commits).toEqual([])
  })
})
