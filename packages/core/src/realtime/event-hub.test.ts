import type { EventStream, StoredEvent } from '@perdure/ports'
import { anEvent, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createEventHub, type EventHub, type Watcher } from './event-hub.ts'
import { createHotCache } from './hot-cache.ts'

const LIMITS = { maxEvents: 10, ttlMs: 1_000, maxSubjectBytes: 10_000, maxBytes: 10_000 }
const stored = (over: Partial<StoredEvent> = {}): StoredEvent => ({ ...anEvent(), position: 1, ...over })

/** The names of the watchers that were woken, in order. */
function watching(hub: EventHub, streams: Readonly<Record<string, EventStream>>) {
  const woken: string[] = []
  const stops = Object.entries(streams).map(([name, stream]) => {
    const watcher = { wake: () => woken.push(name) }
    hub.watch(stream, watcher)
    return () => hub.unwatch(stream, watcher)
  })
  return { woken, stops }
}

describe('createEventHub', () => {
  it('wakes the watchers of the run, the session and the topic of an event', () => {
    const hub = createEventHub()
    const { woken } = watching(hub, {
      run: { runId: 'x' },
      session: { sessionId: 'x' },
      topic: { topic: 'x' },
      other: { runId: 'y' },
    })

    hub.publish([stored({ runId: 'x' })])
    hub.publish([stored({ sessionId: 'x' })])
    hub.publish([stored({ topic: 'x' })])
    hub.publish([stored()])

    expect(woken).toEqual(['run', 'session', 'topic'])
  })

  it('wakes a watcher once for all events of a publication', () => {
    const hub = createEventHub()
    const { woken } = watching(hub, { first: { runId: 'x' }, second: { runId: 'x' } })

    hub.publish([stored({ runId: 'x', position: 1 }), stored({ runId: 'x', position: 2 })])

    expect(woken).toEqual(['first', 'second'])
  })

  it('does not wake a watcher that was removed, even if it was removed twice', () => {
    const hub = createEventHub()
    const { woken, stops } = watching(hub, { first: { runId: 'x' }, second: { runId: 'x' } })

    stops[0]?.()
    stops[0]?.()
    hub.publish([stored({ runId: 'x' })])
    stops[1]?.()
    hub.publish([stored({ runId: 'x' })])

    expect(woken).toEqual(['second'])
  })

  it('keeps a newer watcher when an earlier watcher is removed again', () => {
    const hub = createEventHub()
    const earlier = watching(hub, { earlier: { runId: 'x' } })
    earlier.stops[0]?.()
    const newer = watching(hub, { newer: { runId: 'x' } })

    earlier.stops[0]?.()
    hub.publish([stored({ runId: 'x' })])

    expect(newer.woken).toEqual(['newer'])
  })

  it('lets a watcher remove itself in its wake call', () => {
    const hub = createEventHub()
    let count = 0
    const once: Watcher = {
      wake(watcher) {
        count++
        hub.unwatch({ runId: 'x' }, watcher)
      },
    }
    hub.watch({ runId: 'x' }, once)
    const { woken } = watching(hub, { next: { runId: 'x' } })

    hub.publish([stored({ runId: 'x' })])
    hub.publish([stored({ runId: 'x' })])

    expect([count, woken]).toEqual([1, ['next', 'next']])
  })
})

describe('createEventHub with a cache', () => {
  it('caches the recent events of a stream only while the stream is watched', () => {
    const hub = createEventHub(createHotCache(createManualClock(), LIMITS))
    const recent = (runId: string, after: number) =>
      hub.recent({ runId }, { after, limit: 10 })?.map(({ event }) => event.position)
    const { stops } = watching(hub, { x: { runId: 'x' }, other: { runId: 'y' } })

    hub.publish([stored({ runId: 'x', position: 1 }), stored({ runId: 'z', position: 2 })])
    expect([recent('x', 0), recent('z', 1), recent('z', 2)]).toEqual([[1], undefined, []])
    stops[0]?.()
    expect([recent('x', 0), recent('x', 2), hub.stats().events]).toEqual([undefined, [], 0])
    hub.publish([stored({ runId: 'x', position: 3 })])
    expect([recent('x', 0), recent('x', 2), recent('x', 3)]).toEqual([undefined, undefined, []])
    stops[1]?.()
    hub.publish([stored({ runId: 'y', position: 4 })])
    expect(hub.stats()).toEqual({ events: 0, subjects: 0, bytes: 0 })
  })

  it('keeps no event that its only reader has read when it was woken', () => {
    const hub = createEventHub(createHotCache(createManualClock(), LIMITS))
    const seen: (number | undefined)[] = []
    let position = 0
    hub.watch(
      { runId: 'x' },
      {
        wake() {
          const events = hub.recent({ runId: 'x' }, { after: position, limit: 10 })
          position = events?.at(-1)?.event.position ?? position
          seen.push(events?.length)
        },
      },
    )

    hub.publish([stored({ runId: 'x', position: 1 }), stored({ runId: 'x', position: 2 })])
    hub.publish([stored({ runId: 'x', position: 3 })])

    expect(seen).toEqual([2, 1])
    expect(hub.stats()).toMatchObject({ events: 0, bytes: 0 })
  })

  it('keeps the events of a reader that is behind, and of several readers', () => {
    const hub = createEventHub(createHotCache(createManualClock(), LIMITS))
    const readAll = (runId: string) => ({ wake: () => void hub.recent({ runId }, { after: 0, limit: 10 }) })
    watching(hub, { behind: { runId: 'x' } })
    hub.watch({ runId: 'y' }, readAll('y'))
    hub.watch({ runId: 'y' }, readAll('y'))

    hub.publish([stored({ runId: 'x', position: 1 }), stored({ runId: 'y', position: 2 })])

    expect(hub.recent({ runId: 'x' }, { after: 0, limit: 10 })).toHaveLength(1)
    expect(hub.recent({ runId: 'y' }, { after: 0, limit: 10 })).toHaveLength(1)
  })
})
