import type { EventStream, StoredEvent } from '@perdure/ports'
import { toJsonText } from '@perdure/ports'
import { anEvent, createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RecentEvent } from './event-ring.ts'
import { createHotCache, type HotCacheLimits } from './hot-cache.ts'

const ROOMY: HotCacheLimits = { maxEvents: 1_000, ttlMs: 300_000, maxSubjectBytes: 2 ** 21, maxBytes: 2 ** 26 }
const RUN: EventStream = { runId: 'r' }

const event = (position: number, over: Partial<StoredEvent> = {}): StoredEvent => ({
  ...anEvent({ runId: 'r' }),
  position,
  ...over,
})

const setUp = (limits: Partial<HotCacheLimits> = {}) => {
  const clock = createManualClock()
  return { clock, cache: createHotCache(clock, { ...ROOMY, ...limits }) }
}

const positionsOf = (events: readonly RecentEvent[] | undefined) => events?.map(({ event }) => event.position)
const all = { after: 0, limit: 1_000 }

describe('createHotCache', () => {
  it('answers no read before its first event', () => {
    const { cache } = setUp()

    expect(cache.read(RUN, all)).toBeUndefined()
    expect(cache.read(RUN, { after: 99, limit: 1 })).toBeUndefined()
  })

  it('answers reads that start at its first event or later, but no earlier reads', () => {
    const { cache } = setUp()
    cache.add([event(5), event(6, { runId: 'other' }), event(7)])

    expect(positionsOf(cache.read(RUN, { after: 4, limit: 10 }))).toEqual([5, 7])
    expect(positionsOf(cache.read(RUN, { after: 5, limit: 10 }))).toEqual([7])
    expect(positionsOf(cache.read(RUN, { after: 4, limit: 1 }))).toEqual([5])
    expect(cache.read(RUN, { after: 3, limit: 10 })).toBeUndefined()
    expect(cache.read({ topic: 'idle' }, { after: 4, limit: 10 })).toEqual([])
    expect(cache.read({ topic: 'idle' }, { after: 3, limit: 10 })).toBeUndefined()
  })

  it.each<[string, StoredEvent, EventStream]>([
    ['run', event(1, { runId: 'x' }), { runId: 'x' }],
    ['session', event(1, { runId: undefined, sessionId: 'x' }), { sessionId: 'x' }],
    ['topic', event(1, { runId: undefined, topic: 'x' }), { topic: 'x' }],
  ])('finds an event by its %s', (_, stored, stream) => {
    const { cache } = setUp()
    cache.add([stored])

    expect(positionsOf(cache.read(stream, all))).toEqual([1])
  })

  it('evicts an event exactly at the end of its time to live', () => {
    const { cache, clock } = setUp({ ttlMs: 1_000 })
    cache.add([event(1)])
    clock.advance(500)
    cache.add([event(2)])

    clock.advance(499)
    expect(positionsOf(cache.read(RUN, all))).toEqual([1, 2])
    clock.advance(1)
    expect(cache.read(RUN, all)).toBeUndefined()
    expect(positionsOf(cache.read(RUN, { after: 1, limit: 10 }))).toEqual([2])
    clock.advance(500)
    expect(cache.stats()).toEqual({ events: 0, subjects: 0, bytes: 0 })
    expect(cache.read(RUN, { after: 2, limit: 10 })).toEqual([])
  })

  it('keeps the newest maxEvents events of a subject', () => {
    const { cache } = setUp({ maxEvents: 2 })
    cache.add([event(1), event(2), event(3)])

    expect(cache.read(RUN, all)).toBeUndefined()
    expect(positionsOf(cache.read(RUN, { after: 1, limit: 10 }))).toEqual([2, 3])
    expect(cache.stats()).toMatchObject({ events: 2, subjects: 1 })
  })

  it('stays within its byte limit', () => {
    const { cache } = setUp({ maxSubjectBytes: 40_000, maxBytes: 100_000 })
    const payload = toJsonText('x'.repeat(5_000))
    for (let position = 1; position <= 60; position++) {
      cache.add([event(position, { runId: `r${position % 7}`, payload })])
      const { bytes } = cache.stats()
      expect(bytes).toBeLessThanOrEqual(100_000)
    }

    expect(cache.stats().events).toBeGreaterThan(5)
  })

  it('does not hold an event that is larger than the limit of a subject', () => {
    const { cache } = setUp({ maxSubjectBytes: 1_000 })
    cache.add([event(1, { payload: toJsonText('x'.repeat(2_000)) })])

    expect(cache.stats().events).toBe(0)
    expect(cache.read(RUN, all)).toBeUndefined()
    expect(cache.read(RUN, { after: 1, limit: 1 })).toEqual([])
  })

  it('counts the UTF-8 bytes of a payload', () => {
    const payload = toJsonText('a€é😀')
    const cost = (text: typeof payload) => {
      const { cache } = setUp()
      cache.add([event(1, { payload: text })])
      return cache.stats().bytes
    }

    expect(cost(payload) - cost(toJsonText(''))).toBe(2 * (1 + 3 + 2 + 4))
  })

  it('answers no read that starts before a gap in the positions', () => {
    const { cache } = setUp()
    cache.add([event(1)])
    cache.add([event(3)])

    expect(cache.read(RUN, { after: 1, limit: 10 })).toBeUndefined()
    expect(positionsOf(cache.read(RUN, { after: 2, limit: 10 }))).toEqual([3])
    cache.add([event(2)])
    expect(cache.read(RUN, { after: 1, limit: 10 })).toBeUndefined()
    expect(positionsOf(cache.read(RUN, { after: 2, limit: 10 }))).toEqual([3])
  })

  it('holds only the streams that isKept selects, and does not answer reads of other streams', () => {
    const { cache } = setUp()
    const isKept = (_: string, id: string) => id === 'r'
    cache.add([event(1), event(2, { runId: 'other' }), event(3)], isKept)

    expect(positionsOf(cache.read(RUN, all))).toEqual([1, 3])
    expect(cache.read({ runId: 'other' }, { after: 1, limit: 10 })).toBeUndefined()
    expect(cache.read({ runId: 'other' }, { after: 2, limit: 10 })).toEqual([])
    expect(cache.stats()).toMatchObject({ events: 2, subjects: 1 })
  })

  it('evicts a stream that isKept no longer selects, and starts over when the stream is selected again', () => {
    const { cache } = setUp()
    cache.add([event(1)])
    cache.add([event(2)], () => false)
    cache.add([event(3)])

    expect(cache.read(RUN, { after: 1, limit: 10 })).toBeUndefined()
    expect(positionsOf(cache.read(RUN, { after: 2, limit: 10 }))).toEqual([3])
  })

  it('holds nothing when no stream is kept', () => {
    const { cache } = setUp()
    cache.add([event(1)])
    cache.add([event(2), event(3)], () => false)
    cache.add([], () => false)

    expect(cache.stats()).toEqual({ events: 0, subjects: 0, bytes: 0 })
    expect(cache.read(RUN, { after: 2, limit: 10 })).toBeUndefined()
    expect(cache.read(RUN, { after: 3, limit: 10 })).toEqual([])
    cache.add([event(4)])
    expect(positionsOf(cache.read(RUN, { after: 3, limit: 10 }))).toEqual([4])
  })

  it('holds nothing of a stream that was released after its newest event was read, and answers from there on', () => {
    const { cache, clock } = setUp({ ttlMs: 1_000 })
    cache.add([event(1), event(2)])
    cache.read(RUN, { after: 0, limit: 2 })

    cache.release({ kind: 'runId', id: 'r' })

    expect(cache.stats()).toEqual({ events: 0, subjects: 1, bytes: 0 })
    expect(cache.read(RUN, { after: 1, limit: 10 })).toBeUndefined()
    expect(cache.read(RUN, { after: 2, limit: 10 })).toEqual([])
    cache.add([event(3, { runId: 'other' }), event(4)])
    expect(positionsOf(cache.read(RUN, { after: 2, limit: 10 }))).toEqual([4])

    cache.release({ kind: 'runId', id: 'r' })
    clock.advance(1_000)
    expect(cache.stats()).toMatchObject({ subjects: 0 })
  })

  it('releases nothing of a stream whose newest event was not read', () => {
    const { cache } = setUp()
    cache.add([event(1), event(2)])
    cache.read(RUN, { after: 0, limit: 1 })
    cache.release({ kind: 'runId', id: 'r' })
    expect(positionsOf(cache.read(RUN, all))).toEqual([1, 2])

    cache.add([event(3)])
    cache.release({ kind: 'runId', id: 'r' })
    expect(positionsOf(cache.read(RUN, all))).toEqual([1, 2, 3])
  })

  it('answers no read of events that were added before it was cleared', () => {
    const { cache } = setUp()
    cache.add([event(1), event(2)])
    cache.clear()
    cache.add([event(3)])

    expect(cache.read(RUN, { after: 1, limit: 10 })).toBeUndefined()
    expect(positionsOf(cache.read(RUN, { after: 2, limit: 10 }))).toEqual([3])
    expect(cache.stats()).toMatchObject({ events: 1, subjects: 1 })
  })
})

type Step =
  | { readonly do: 'commit'; readonly streams: readonly number[] }
  | { readonly do: 'watch'; readonly streams: readonly number[] }
  | { readonly do: 'foreign' }
  | { readonly do: 'late' }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'clear' }
  | { readonly do: 'release'; readonly stream: number }
  | { readonly do: 'refresh' }
  | { readonly do: 'read'; readonly stream: number; readonly back: number; readonly limit: number }

const stream = fc.integer({ min: 0, max: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({ do: fc.constant('commit' as const), streams: fc.array(stream, { maxLength: 6 }) }),
    weight: 6,
  },
  {
    arbitrary: fc.record({ do: fc.constant('watch' as const), streams: fc.subarray([0, 1, 2, 3]) }),
    weight: 2,
  },
  { arbitrary: fc.constant({ do: 'foreign' } as const), weight: 1 },
  { arbitrary: fc.constant({ do: 'late' } as const), weight: 1 },
  { arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 700 }) }), weight: 2 },
  { arbitrary: fc.constant({ do: 'clear' } as const), weight: 1 },
  { arbitrary: fc.record({ do: fc.constant('release' as const), stream }), weight: 2 },
  { arbitrary: fc.constant({ do: 'refresh' } as const), weight: 1 },
  {
    arbitrary: fc.record({
      ...{ do: fc.constant('read' as const), stream },
      ...{ back: fc.integer({ min: 0, max: 12 }), limit: fc.integer({ min: 1, max: 5 }) },
    }),
    weight: 6,
  },
)

describe('createHotCache with random operations', () => {
  it('answers a read only with what the log returns', () => {
    let answered = 0
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const { cache, clock } = setUp({ maxEvents: 4, ttlMs: 1_000, maxSubjectBytes: 4_000, maxBytes: 6_000 })
        const log: StoredEvent[] = []
        let unpublished: StoredEvent[] = []
        let publishedThrough = 0
        let watched: ReadonlySet<string> = new Set(['r0', 'r1', 'r2', 'r3'])
        const publish = (events: readonly StoredEvent[]) => {
          if (watched.size === 0) cache.skip(events)
          else cache.add(events, (_, id) => watched.has(id))
          publishedThrough = Math.max(publishedThrough, events.at(-1)?.position ?? 0)
        }
        const append = (run: number) => {
          log.push(event(log.length + 1, { runId: `r${run}` }))
          return log.at(-1) as StoredEvent
        }

        for (const one of steps) {
          if (one.do === 'commit') publish(one.streams.map(append))
          else if (one.do === 'watch') {
            const before = watched
            watched = new Set(one.streams.map((run) => `r${run}`))
            for (const id of before) if (!watched.has(id)) cache.evict({ kind: 'runId', id })
          } else if (one.do === 'foreign') append(0)
          else if (one.do === 'late') {
            // The promise of an earlier commit resolves after the promise of a later commit.
            publish(unpublished)
            unpublished = [append(1)]
          } else if (one.do === 'pass') clock.advance(one.ms)
          else if (one.do === 'clear') cache.clear()
          else if (one.do === 'release') cache.release({ kind: 'runId', id: `r${one.stream}` })
          else if (one.do === 'refresh') {
            cache.clear(log.length)
            publishedThrough = log.length
          } else {
            const range = { after: Math.max(0, log.length - one.back), limit: one.limit }
            const cached = cache.read({ runId: `r${one.stream}` }, range)
            if (cached === undefined) continue
            answered++
            const logged = log.filter(({ runId, position }) => runId === `r${one.stream}` && position > range.after)
            // Events that are committed but not published yet may be missing, but only at the end.
            const isComplete = publishedThrough === log.length
            const expected = logged.slice(0, isComplete ? one.limit : cached.length)
            expect(positionsOf(cached)).toEqual(expected.map(({ position }) => position))
          }
        }
      }),
      { numRuns: 2_000 },
    )
    expect(answered).toBeGreaterThan(2_000)
  })
})
