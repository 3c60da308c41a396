import { createEventFeed } from '@perdure/core'
import type { EventLog } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { followEvents } from './follow.ts'
import { createRunLog, SOURCE, settled } from './run-log.fixture.ts'

const many = (count: number) => Array.from({ length: count }, () => 'text.delta')

describe('followEvents', () => {
  it('reads a complete log of several pages and ends', async () => {
    const { feed, append } = await createRunLog()
    await append(...many(450))
    const options = { after: 5, isComplete: true, signal: new AbortController().signal }

    const positions: number[] = []
    for await (const page of followEvents(feed, SOURCE, options))
      positions.push(...page.map(({ position }) => position))

    expect(positions).toEqual(Array.from({ length: 445 }, (_, index) => index + 6))
  })

  it('reads a complete log from storage, including events not yet published', async () => {
    const { storage, hub, render, append } = await createRunLog()
    await append('a', 'b')
    const feed = createEventFeed({ events: storage.events, hub: { ...hub, recent: () => [] }, render })
    const options = { after: 0, isComplete: true, signal: new AbortController().signal }

    const types: string[] = []
    for await (const page of followEvents(feed, SOURCE, options)) types.push(...page.map(({ type }) => type))

    expect(types).toEqual(['a', 'b'])
  })

  it('waits for new events', async () => {
    const { feed, append } = await createRunLog()
    const options = { after: 0, isComplete: false, signal: new AbortController().signal }
    const events = followEvents(feed, SOURCE, options)
    const first = events.next()
    await settled()

    await append('a', 'b')

    expect((await first).value).toMatchObject([{ type: 'a' }, { type: 'b' }])
    const next = events.next()
    await append('c')
    expect((await next).value).toMatchObject([{ type: 'c' }])
    await events.return()
  })

  it('misses no event appended during a read', async () => {
    const { storage, hub, render, append } = await createRunLog()
    const appendedDuringRead: EventLog = {
      ...storage.events,
      async read(of, range) {
        const page = await storage.events.read(of, range)
        if (range.after === 0 && page.length === 0) await append('late')
        return page
      },
    }
    const options = { after: 0, isComplete: false, signal: new AbortController().signal }
    const events = followEvents(
      createEventFeed({ events: appendedDuringRead, hub: { ...hub, recent: () => undefined }, render }),
      SOURCE,
      options,
    )

    expect((await events.next()).value).toMatchObject([{ type: 'late' }])
    await events.return()
  })

  it('stops watching the log when its caller aborts it or leaves the loop, and when the log ends', async () => {
    const { feed, append } = await createRunLog()
    await append('a')
    let watching = 0
    const counting: typeof feed = {
      ...feed,
      watch(of, watcher) {
        watching += 1
        feed.watch(of, watcher)
      },
      unwatch(of, watcher) {
        watching -= 1
        feed.unwatch(of, watcher)
      },
    }
    const follow = (isComplete: boolean, signal = new AbortController().signal) =>
      followEvents(counting, SOURCE, { after: 0, isComplete, signal })
    const aborting = new AbortController()
    const aborted = follow(false, aborting.signal)
    const left = follow(false)
    const done = follow(true)
    await Promise.all([aborted.next(), left.next(), done.next()])
    const waiting = aborted.next()
    expect(watching).toBe(3)

    aborting.abort()
    await left.return()

    expect((await waiting).done).toBe(true)
    expect((await done.next()).done).toBe(true)
    expect(watching).toBe(0)
  })
})
