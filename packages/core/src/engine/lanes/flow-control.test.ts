import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { StartRunRequest } from '../start-request.ts'
import { untilIdle } from '../test-engine.fixture.ts'
import { startWorld, textOf } from './flow-control.fixture.ts'

describe('a concurrency limit with a key', () => {
  it('executes at most `limit` runs of each key, in order', async () => {
    const { send, end, started } = startWorld({ concurrency: { limit: 2, key: (input) => textOf(input).charAt(0) } })

    for (const input of ['a1', 'a2', 'a3', 'b1', 'a4']) await send(input)
    expect(started).toEqual(['a1', 'a2', 'b1'])
    await end('a2')
    await end('b1')

    expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  it('does not limit a run without a key, and rejects a run beyond the limit when onBusy is reject', async () => {
    const key = (input: unknown) => (input === 'free' ? undefined : 'all')
    const { send, started } = startWorld({ concurrency: { limit: 1, key }, onBusy: 'reject' })

    await send('one')
    await expect(send('two')).rejects.toMatchObject({ code: 'agent-busy' })
    await send('free')

    expect(started).toEqual(['one', 'free'])
  })

  it.each<['session' | 'user' | 'owner', StartRunRequest['body'], Partial<StartRunRequest>]>([
    ['user', { userId: 'u2' }, {}],
    ['owner', {}, { principal: { subject: 'bob', scopes: ['agents:invoke'] } }],
  ])('limits the runs of each %s', async (key, body, request) => {
    const { send, started } = startWorld({ concurrency: { limit: 1, key } })

    await send('one', { userId: 'u1' })
    await send('two', { userId: 'u1' })
    await send('other', body, request)

    expect(started).toEqual(['one', 'other'])
  })

  it('aborts the oldest runs that exceed the limit when onBusy is interrupt', async () => {
    const { engine, send, started } = startWorld({ concurrency: { limit: 2 }, onBusy: 'interrupt' })
    const runs = [await send('1'), await send('2')]

    await send('3')
    await engine.advance(5_000)

    const statuses = await Promise.all(runs.map(async ({ runId }) => (await engine.find(runId))?.status))
    expect([statuses, started]).toEqual([
      ['aborted', 'running'],
      ['1', '2', '3'],
    ])
  })

  it('refuses a start whose key function fails or returns something other than text', async () => {
    const fail = () => {
      throw new Error('no customer')
    }
    const number = (() => 1) as unknown as () => string

    await expect(startWorld({ concurrency: { limit: 1, key: fail } }).send('x')).rejects.toMatchObject({
      code: 'internal-error',
      message: expect.stringContaining('the key function of concurrency of the agent work failed'),
    })
    await expect(startWorld({ rateLimit: { limit: 1, period: 1, key: number } }).send('x')).rejects.toMatchObject({
      message: expect.stringContaining('the key of rateLimit of the agent work is number; it must be a string'),
    })
    const later = (() => Promise.reject(new Error('late'))) as unknown as () => string
    await expect(startWorld({ rateLimit: { limit: 1, period: 1, key: later } }).send('x')).rejects.toMatchObject({
      message: expect.stringContaining('is a promise; it must be a string'),
    })
  })

  it('rejects an input whose key is too long as invalid input', async () => {
    const { send } = startWorld({ concurrency: { limit: 1, key: textOf } })

    await expect(send('x'.repeat(513))).rejects.toMatchObject({ code: 'invalid-input' })
  })
})

describe('a rate limit', () => {
  const rateLimit = { limit: 2, period: 1_000 }

  it('starts at most `limit` runs in any period and queues the rest', async () => {
    const { engine, send, started } = startWorld({ rateLimit })
    await send(1)
    await engine.advance(600)
    for (const input of [2, 3, 4]) await send(input)
    expect(started).toEqual([1, 2])

    await engine.advance(400)
    expect(started).toEqual([1, 2, 3])
    await engine.advance(599)
    expect(started).toEqual([1, 2, 3])
    await engine.advance(1)

    expect(started).toEqual([1, 2, 3, 4])
  })

  it('counts the starts of the previous process', async () => {
    const storage = createInMemoryStorage()
    const clock = createManualClock()
    const { engine, send, open, started } = startWorld({ rateLimit, onCrash: 'retry' }, { storage, clock })
    for (const input of [1, 2, 3]) await send(input)
    clock.advance(900)
    await engine.drain(0)

    const next = open()
    await next.recover()
    await next.start()
    await untilIdle(clock)
    expect(started).toEqual([1, 2, 1, 2])
    await next.advance(100)

    expect(started).toEqual([1, 2, 1, 2, 3])
  })

  it.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('starts queued and new runs within a period after the clock was set %s', async (_, stepMs) => {
    const { engine, send, started } = startWorld({ rateLimit: { limit: 1, period: 10_000 } })
    await send(1)
    await send(2)
    engine.clock.setWall(engine.clock.now() + stepMs)
    await send(3)

    await engine.advance(30_000)
    expect(started).toContain(2)
    await engine.advance(30_000)

    expect(started).toEqual([1, 2, 3])
  })

  it('starts a run within a period although an earlier start was recorded while the clock was ahead', async () => {
    const storage = createInMemoryStorage()
    const clock = createManualClock()
    const { engine, send, open, started } = startWorld({ rateLimit: { limit: 1, period: 2_000 } }, { storage, clock })
    clock.setWall(clock.now() + 3_600_000)
    await send(1)
    await engine.drain(0)
    clock.setWall(clock.now() - 3_600_000)

    const next = open()
    await next.recover()
    await next.start()
    await next.run('work', { body: { input: 2 }, answer: 'accepted' })
    await next.advance(2_000)

    expect(started).toEqual([1, 2])
  })

  it('returns the slot of a run that was aborted before it started', async () => {
    const { engine, send, started } = startWorld({ rateLimit: { limit: 1, period: 1_000 } })
    await send(1)
    const second = await send(2)
    await send(3)
    await engine.abortRun({ runId: second.runId, visibility: EVERY_ROW })
    await engine.advance(1_000)

    expect(started).toEqual([1, 3])
  })
})

describe('a priority', () => {
  it('orders queued runs, and age raises the rank of a run', async () => {
    const { engine, send, end, started } = startWorld({}, { concurrency: 1 })
    await send('first')
    await send('old', { priority: -1 })
    await engine.advance(11_000)
    await send('normal')
    await send('urgent', { priority: 100 })
    await send('late', { priority: -100 })

    for (const input of ['first', 'urgent', 'old', 'normal']) await end(input)

    expect(started).toEqual(['first', 'urgent', 'old', 'normal', 'late'])
  })

  it('ranks runs by the time since they were accepted after a restart', async () => {
    const storage = createInMemoryStorage()
    const clock = createManualClock()
    const { engine, send, open, started } = startWorld({ onCrash: 'fail' }, { storage, clock, concurrency: 1 })
    await send('first')
    await send('old')
    clock.advance(60_000)
    await send('urgent', { priority: 5 })

    await engine.drain(0)
    const next = open()
    await next.recover()
    await next.start()
    await untilIdle(clock)

    expect(started).toEqual(['first', 'old'])
  })

  it('keeps the order of queued runs across a restart', async () => {
    const storage = createInMemoryStorage()
    const clock = createManualClock()
    const { engine, send, open, started } = startWorld({ onCrash: 'fail' }, { storage, clock, concurrency: 1 })
    await send('first')
    for (const [input, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', 0],
      ['d', 5],
    ] as const)
      await send(input, { priority })

    await engine.drain(0)
    const next = open()
    await next.recover()
    await next.start()
    await untilIdle(clock)
    const order = (await storage.runs.list({ statuses: ['running'] }, { limit: 1, order: 'asc' }, EVERY_ROW)).items
    expect(order.map(({ input }) => input)).toEqual(['"b"'])
    expect(started).toEqual(['first', 'b'])
  })
})

describe('a start time', () => {
  it('keeps the run queued until then, without a slot', async () => {
    const { engine, send, end, started } = startWorld({}, { concurrency: 1 })
    const delayed = await send('delayed', { delayMs: 5_000 })
    const at = new Date(engine.clock.now() + 7_000).toISOString()
    await send('later', { startAt: at })
    await send('now')
    expect([delayed.status, started]).toEqual(['queued', ['now']])
    await end('now')

    await engine.start()
    await engine.advance(4_999)
    expect(started).toEqual(['now'])
    await engine.advance(1)
    expect(started).toEqual(['now', 'delayed'])
    await end('delayed')
    await engine.advance(2_000)

    expect(started).toEqual(['now', 'delayed', 'later'])
    const [queued] = await engine.eventsOf(delayed.runId)
    expect(queued?.payload).toContain('"startAt":"2025-01-01T00:00:05.000Z"')
  })

  it('starts a run at once whose start time has passed', async () => {
    const { send, started } = startWorld({})

    await send('past', { startAt: '2020-01-01T00:00:00Z' })

    expect(started).toEqual(['past'])
  })

  it('answers a caller that waits for it when the server stops', async () => {
    const { engine } = startWorld({})
    await engine.start()
    const waiting = engine.run('work', { body: { input: 'later', delayMs: 60_000 } })
    await untilIdle(engine.clock)

    await engine.drain(0)
    await engine.release()

    expect(await waiting).toMatchObject({ status: 202, runId: expect.stringMatching(/^run_/) })
  })

  it('never starts a run that was aborted before', async () => {
    const { engine, send, started } = startWorld({})
    await engine.start()
    const { runId } = await send('delayed', { delayMs: 1_000 })

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await engine.advance(2_000)

    expect([started, (await engine.find(runId))?.status]).toEqual([[], 'aborted'])
  })
})
