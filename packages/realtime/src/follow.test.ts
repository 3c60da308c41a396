import type { EventLog } from '@berth/ports'
import { describe, expect, it } from 'vitest'
import { followEvents } from './follow.ts'
import { createRunLog, RUN_ID, settled } from './run-log.fixture.ts'

const stream = { runId: RUN_ID }
const many = (count: number) => Array.from({ length: count }, () => 'text.delta')

describe('followEvents', () => {
  it('reads a complete log of several pages to its end', async () => {
    const { storage, hub, append } = await createRunLog()
    await append(...many(450))
    const options = { after: 5, isComplete: true, signal: new AbortController().signal }

    const positions: number[] = []
    for await (const { position } of followEvents({ events: storage.events, hub }, stream, options))
      positions.push(position)

    expect(positions).toEqual(Array.from({ length: 445 }, (_, index) => index + 6))
  })

  it('waits for what is appended', async () => {
    const { storage, hub, append } = await createRunLog()
    const options = { after: 0, isComplete: false, signal: new AbortController().signal }
    const events = followEvents({ events: storage.events, hub }, stream, options)
    const first = events.next()
    await settled()

    await append('a', 'b')

    expect((await first).value).toMatchObject({ type: 'a' })
    expect((await events.next()).value).toMatchObject({ type: 'b' })
    await events.return()
  })

  it('misses nothing that is appended while it reads', async () => {
    const { storage, hub, append } = await createRunLog()
    const appendedDuringRead: EventLog = {
      ...storage.events,
      async read(of, range) {
        const page = await storage.events.read(of, range)
        if (range.after === 0 && page.length === 0) await append('late')
        return page
      },
    }
    const options = { after: 0, isComplete: false, signal: new AbortController().signal }
    const events = followEvents({ events: appendedDuringRead, hub }, stream, options)

    expect((await events.next()).value).toMatchObject({ type: 'late' })
    await events.return()
  })

  it('watches nothing any more when it is aborted, left or done', async () => {
    const { storage, hub, append } = await createRunLog()
    await append('a')
    let watching = 0
    const counting: typeof hub = {
      ...hub,
      watch(of, wake) {
        watching += 1
        const unwatch = hub.watch(of, wake)
        return () => {
          watching -= 1
          unwatch()
        }
      },
    }
    const follow = (isComplete: boolean, signal = new AbortController().signal) =>
      followEvents({ events: storage.events, hub: counting }, stream, { after: 0, isComplete, signal })
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
