import { createInMemoryMeter, createInMemoryStorage } from '@perdure/in-memory'
import type { Clock, EpochMs, StoredEvent } from '@perdure/ports'
import { anEvent, aRun, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createEventHub } from '../realtime/event-hub.ts'
import { createHotCache } from '../realtime/hot-cache.ts'
import { commitOver } from './commit.fixture.ts'

const OUTCOME = { committed: true, events: [], counts: [] } as const
const ignore = () => undefined

/** A clock that advances by 250 ms on every read. */
function createSteppingClock(): Clock {
  let readMs = 0
  const next = () => {
    readMs += 250
    return readMs
  }
  return { now: () => next() as EpochMs, monotonicMs: next }
}

describe('a commit', () => {
  it('publishes events only after readers can read them', async () => {
    const storage = createInMemoryStorage()
    const hub = createEventHub()
    const seen: Promise<readonly StoredEvent[]>[] = []
    hub.watch({ runId: 'x' }, { wake: () => seen.push(storage.events.read({ runId: 'x' }, { after: 0, limit: 10 })) })

    const outcome = await commitOver(storage.unitOfWork, { hub }).commit([
      { type: 'event.append', events: [anEvent({ runId: 'x' }), anEvent({ runId: 'x' })] },
    ])

    expect(await Promise.all(seen)).toEqual([outcome.committed ? outcome.events : 'not committed'])
  })

  it('that deletes something discards the cached events and answers', async () => {
    const storage = createInMemoryStorage()
    const limits = { maxEvents: 10, ttlMs: 1_000, maxSubjectBytes: 10_000, maxBytes: 10_000 }
    const hub = createEventHub(createHotCache(createManualClock(), limits))
    const answers = new Map([['key', 'answer']])
    const { commit } = commitOver(storage.unitOfWork, { hub, answers })
    hub.watch({ topic: 'x' }, { wake: ignore })
    const recent = () => hub.recent({ topic: 'x' }, { after: 0, limit: 10 })
    await commit([{ type: 'event.append', events: [anEvent({ topic: 'x' })] }])
    expect([recent(), [...answers]]).toMatchObject([[{}], [['key', 'answer']]])

    await commit([{ type: 'thread.delete', workflowId: 'flow', threadId: 'thr_1', answer: { status: 404, body: '' } }])

    expect([recent(), answers.size]).toEqual([undefined, 0])
    expect(hub.stats()).toEqual({ events: 0, subjects: 0, bytes: 0 })
  })

  it('that conflicts or writes no event publishes nothing', async () => {
    const storage = createInMemoryStorage()
    const hub = createEventHub()
    let woken = 0
    hub.watch({ runId: 'x' }, { wake: () => woken++ })
    const { commit } = commitOver(storage.unitOfWork, { hub })
    const run = aRun({ id: 'x' })

    await commit([{ type: 'run.insert', run }])
    const second = await commit([
      { type: 'event.append', events: [anEvent({ runId: 'x' })] },
      { type: 'run.insert', run },
    ])

    expect(second).toMatchObject({ committed: false, conflict: { type: 'run.insert' } })
    expect(woken).toBe(0)
  })

  it('with an event that webhooks deliver, and only such a commit, wakes them', async () => {
    const storage = createInMemoryStorage()
    let woken = 0
    const { commit } = commitOver(storage.unitOfWork, { onDeliveriesDue: () => woken++ })

    await commit([{ type: 'event.append', events: [anEvent({ type: 'text.delta' })] }])
    expect(woken).toBe(0)
    await commit([{ type: 'event.append', events: [anEvent({ type: 'run.completed' })] }])
    expect(woken).toBe(1)
  })

  it('is measured when it succeeds and when it fails', async () => {
    const meter = createInMemoryMeter()
    const clock = createSteppingClock()
    const working = commitOver({ commit: async () => OUTCOME }, { clock, meter })
    const full = commitOver({ commit: () => Promise.reject(new Error('full')) }, { clock, meter })

    expect(await working.commit([])).toBe(OUTCOME)
    await expect(full.commit([])).rejects.toThrow('full')

    expect(meter.values.get('svc_storage_commit_duration_seconds_count')).toBe(2)
    expect(meter.values.get('svc_storage_commit_duration_seconds_sum')).toBe(0.5)
  })

  it('is work of the server', async () => {
    let isOutside = false
    const outside = <T>(fn: () => T): T => {
      isOutside = true
      return fn()
    }
    const seen: boolean[] = []
    const commit = async () => {
      seen.push(isOutside)
      return OUTCOME
    }

    await commitOver({ commit }, { outside }).commit([])

    expect(seen).toEqual([true])
  })
})
