import { createEventFeed, type EventFeed } from '@perdure/core'
import type { EventLog } from '@perdure/ports'
import { describe, expect, it, vi } from 'vitest'
import { ENDED, WAITING } from './block-source.ts'
import { createFollower } from './follow.ts'
import { createRunLog, SOURCE } from './run-log.fixture.ts'

const many = (count: number) => Array.from({ length: count }, () => 'text.delta')

const ignore = () => undefined
const follow = (feed: EventFeed, options: { isComplete: boolean; after?: number; wake?: () => void }) =>
  createFollower(feed, SOURCE, { after: 0, wake: ignore, ...options })

describe('createFollower', () => {
  it('reads a complete log of several pages and ends', async () => {
    const { feed, append } = await createRunLog()
    await append(...many(450))
    const follower = follow(feed, { after: 5, isComplete: true })

    const positions: number[] = []
    for (let step = await follower.next(); step !== ENDED; step = await follower.next()) {
      if (step === WAITING) throw new Error('a complete log does not wait')
      positions.push(...step.map(({ position }) => position))
    }

    expect(positions).toEqual(Array.from({ length: 445 }, (_, index) => index + 6))
  })

  it('reads a complete log from storage, including events not yet published', async () => {
    const { storage, hub, render, append } = await createRunLog()
    await append('a', 'b')
    const feed = createEventFeed({ events: storage.events, hub: { ...hub, recent: () => [] }, render })
    const follower = follow(feed, { isComplete: true })

    expect(await follower.next()).toMatchObject([{ type: 'a' }, { type: 'b' }])
    expect(await follower.next()).toBe(ENDED)
  })

  it('waits for new events, and reads them from memory at once', async () => {
    const { feed, append } = await createRunLog()
    const wake = vi.fn()
    const follower = follow(feed, { isComplete: false, wake })
    expect(await follower.next()).toBe(WAITING)

    await append('a', 'b')

    expect(wake).toHaveBeenCalledOnce()
    expect(follower.next()).toMatchObject([{ type: 'a' }, { type: 'b' }])
    expect(follower.next()).toBe(WAITING)
    await append('c')
    expect(follower.next()).toMatchObject([{ type: 'c' }])
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
    const feed = createEventFeed({ events: appendedDuringRead, hub: { ...hub, recent: () => undefined }, render })

    expect(await follow(feed, { isComplete: false }).next()).toMatchObject([{ type: 'late' }])
  })

  it('stops watching the log when it is closed', async () => {
    const { feed, append } = await createRunLog()
    const wake = vi.fn()
    const follower = follow(feed, { isComplete: false, wake })

    follower.close()
    await append('a')

    expect(wake).not.toHaveBeenCalled()
  })
})
