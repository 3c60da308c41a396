import { AsyncLocalStorage } from 'node:async_hooks'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type NewEvent, perdureError, storageBusy, toJsonText, type UnitOfWork, type Write } from '@perdure/ports'
import { anEvent, aRun, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { type CollectedResult, createEventCollector, type EventSource, sizeOf } from './event-collector.ts'

type Commit = UnitOfWork['commit']

async function setUp(around: (commit: Commit) => Commit = (commit) => commit) {
  const storage = createInMemoryStorage()
  const groups: (readonly Write[])[] = []
  const clock = createManualClock()
  const commit = around(storage.unitOfWork.commit)
  const unitOfWork: UnitOfWork = {
    commit(writes) {
      groups.push(writes)
      return commit(writes)
    },
  }
  const collector = createEventCollector({ unitOfWork, clock, timers: clock, logger: silentLogger })
  /** A running run, whose source hands over these events. */
  const sourceOf = async (runId: string, events: readonly NewEvent[]) => {
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: runId, status: 'running' }) }])
    const { promise: settled, resolve: settle } = Promise.withResolvers<CollectedResult>()
    const take = (room: number) => (events.reduce((sum, event) => sum + sizeOf(event), 0) <= room ? events : [])
    const source: EventSource = { runId, attempt: 1, execution: 0, take, settle }
    return { source, settled }
  }
  const log = async (runId: string) =>
    (await storage.events.read({ runId }, { after: 0, limit: 100 })).map(({ type }) => type)
  const sizes = () => groups.map((writes) => writes.length)
  return { storage, clock, collector, groups, sizes, sourceOf, log }
}

const note = (runId: string, type = 'note.said', length = 0) =>
  anEvent({ runId, type, payload: toJsonText('x'.repeat(length)) })

/** Lets the microtasks of a commit in memory pass. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const STORED = { isStored: true }

describe('the event collector', () => {
  it('commits the events of all sources that wait in one transaction', async () => {
    const { collector, sourceOf, sizes, log } = await setUp()
    const ids = Array.from({ length: 300 }, (_, index) => `run_${index}`)
    const sources = await Promise.all(ids.map((id) => sourceOf(id, [note(id, 'note.a'), note(id, 'note.b')])))

    for (const { source } of sources) collector.add(source)

    expect(await Promise.all(sources.map(({ settled }) => settled))).toEqual(ids.map(() => STORED))
    expect(sizes()).toEqual([300])
    expect(await log('run_299')).toEqual(['note.a', 'note.b'])
  })

  it('refuses only the events of a run that no longer executes', async () => {
    const { collector, sourceOf, storage, sizes, log } = await setUp()
    const ids = ['run_1', 'run_2', 'run_3']
    const sources = await Promise.all(ids.map((id) => sourceOf(id, [note(id)])))
    await storage.unitOfWork.commit([
      { type: 'run.transition', runId: 'run_2', from: ['running'], attempt: 1, change: { status: 'aborted' } },
    ])

    for (const { source } of sources) collector.add(source)

    expect(await Promise.all(sources.map(({ settled }) => settled))).toEqual([STORED, { isStored: false }, STORED])
    expect(sizes()).toEqual([3])
    expect(await Promise.all(ids.map(log))).toEqual([['note.said'], [], ['note.said']])
  })

  it('begins a group when the one before has ended, with everything that came meanwhile', async () => {
    let gate = Promise.withResolvers<void>()
    const { collector, sourceOf, sizes } = await setUp((commit) => async (writes) => {
      await gate.promise
      return commit(writes)
    })
    const [first, ...others] = await Promise.all(['a', 'b', 'c'].map((id) => sourceOf(id, [note(id)])))
    collector.add(first?.source as EventSource)
    await turn()
    for (const { source } of others) collector.add(source)
    await turn()
    expect(sizes()).toEqual([1])

    gate.resolve()
    gate = Promise.withResolvers()
    gate.resolve()

    await Promise.all(others.map(({ settled }) => settled))
    expect(sizes()).toEqual([1, 2])
  })

  it('leaves out a source that was removed', async () => {
    const { collector, sourceOf, sizes } = await setUp()
    const [kept, removed] = [await sourceOf('a', [note('a')]), await sourceOf('b', [note('b')])]
    collector.add(kept.source)
    collector.add(removed.source)
    collector.remove(removed.source)

    await kept.settled
    await turn()
    expect(sizes()).toEqual([1])
  })

  it('ends a group at 256 KiB; the sources that wait longest go first', async () => {
    const { collector, sourceOf, groups } = await setUp()
    const ids = ['a', 'b', 'c', 'd', 'e']
    const sources = await Promise.all(ids.map((id) => sourceOf(id, [note(id, 'note.long', 100 * 1_024)])))

    for (const { source } of sources) collector.add(source)
    await Promise.all(sources.map(({ settled }) => settled))

    expect(groups.map((writes) => writes.map((write) => 'runId' in write && write.runId))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e'],
    ])
  })

  it('pauses before the next group while groups of many runs are slow, and never after a silence or for few runs', async () => {
    let ms = 0
    const set = await setUp((commit) => (writes) => {
      set.clock.advance(ms)
      return commit(writes)
    })
    const { clock, collector, sourceOf, sizes } = set
    const emit = async (runs = 16) => {
      const ids = Array.from({ length: runs }, (_, index) => `run_${sizes().length}_${index}`)
      const sources = await Promise.all(ids.map((id) => sourceOf(id, [note('x')])))
      for (const { source } of sources) collector.add(source)
      await turn()
      return Promise.all(sources.map(({ settled }) => settled))
    }
    for (let group = 0; group < 3; group++) await emit()
    expect(collector.isCrowded()).toBe(false)
    ms = 1_000
    await emit()
    ms = 0

    const paused = emit()
    await turn()
    expect(sizes()).toHaveLength(4)
    expect(collector.isCrowded()).toBe(true)
    clock.advance(40)
    await paused
    clock.advance(40)
    await emit(15)
    expect(sizes()).toHaveLength(6)
    expect(collector.isCrowded()).toBe(false)
    await emit(1)
    expect(sizes()).toHaveLength(7)
  })

  it('reports that the storage is busy, and gives it time before the next group', async () => {
    let error: unknown = storageBusy()
    const { clock, collector, sourceOf, sizes } = await setUp(
      (commit) => (writes) => (error === undefined ? commit(writes) : Promise.reject(error)),
    )
    const refused = await sourceOf('a', [note('a')])
    collector.add(refused.source)
    expect(await refused.settled).toEqual({ error })
    error = undefined

    const { source, settled } = await sourceOf('b', [note('b')])
    collector.add(source)
    await turn()
    expect(sizes()).toEqual([1])
    clock.advance(100)
    expect(await settled).toEqual(STORED)
  })

  it('commits the events of each run alone after an error that may come from one of them', async () => {
    const error = new Error('the payload cannot be stored')
    const { collector, sourceOf, log } = await setUp((commit) => (writes) => {
      const isBad = writes.some((write) => 'runId' in write && write.runId === 'b')
      return isBad ? Promise.reject(error) : commit(writes)
    })
    const sources = await Promise.all(['a', 'b', 'c'].map((id) => sourceOf(id, [note(id)])))

    for (const { source } of sources) collector.add(source)

    expect(await Promise.all(sources.map(({ settled }) => settled))).toEqual([STORED, { error }, STORED])
    expect(await Promise.all(['a', 'b', 'c'].map(log))).toEqual([['note.said'], [], ['note.said']])
  })

  it.each(['storage-full', 'storage-failed'] as const)('does not try again after %s', async (code) => {
    const error = perdureError(code)
    const { collector, sourceOf, sizes } = await setUp(() => () => Promise.reject(error))
    const sources = await Promise.all(['a', 'b'].map((id) => sourceOf(id, [note(id)])))

    for (const { source } of sources) collector.add(source)

    expect(await Promise.all(sources.map(({ settled }) => settled))).toEqual([{ error }, { error }])
    expect(sizes()).toEqual([2])
  })

  it('commits in the context of the server, not in that of a run', async () => {
    const context = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const { collector, sourceOf } = await setUp((commit) => (writes) => {
      seen.push(context.getStore())
      return commit(writes)
    })
    const { source, settled } = await sourceOf('a', [note('a')])

    context.run('the code of a', () => collector.add(source))
    await settled

    expect(seen).toEqual([undefined])
  })
})
