import { createInMemoryStorage } from '@perdure/in-memory'
import { type EpochMs, EVERY_ROW, type RunRecord } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { AgentRegistration } from '../targets/agent.ts'
import type { StartRunRequest } from './start-request.ts'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle } from './test-engine.fixture.ts'

const textOf = (input: unknown) => String(input)

/** An agent whose runs end when the test says so. */
function startWorld(over: Partial<AgentRegistration>, options: Parameters<typeof createTestEngine>[0] = {}) {
  const started: unknown[] = []
  const gates = new Map<unknown, PromiseWithResolvers<void>>()
  const code: AgentRegistration['agent']['run'] = async (input) => {
    started.push(input)
    const one = gate()
    gates.set(input, one)
    await one.promise
    return input
  }
  const open = () => createTestEngine({ ...options, agents: [agentOf('work', code, { onBusy: 'queue', ...over })] })
  const engine = open()
  return {
    ...{ engine, started, open },
    async send(input: unknown, body: StartRunRequest['body'] = {}, request: Partial<StartRunRequest> = {}) {
      const reply = await engine.run('work', { body: { input, ...body }, answer: 'accepted', ...request })
      await untilIdle(engine.clock)
      return outcomeOf(reply)
    },
    async end(input: unknown) {
      gates.get(input)?.resolve()
      await untilIdle(engine.clock)
    },
  }
}

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
      id: 'internal-error',
      message: expect.stringContaining('the key function of concurrency of the agent work failed'),
    })
    await expect(startWorld({ rateLimit: { limit: 1, periodMs: 1, key: number } }).send('x')).rejects.toMatchObject({
      message: expect.stringContaining('the key of rateLimit of the agent work is number; it must be a string'),
    })
    const later = (() => Promise.reject(new Error('late'))) as unknown as () => string
    await expect(startWorld({ rateLimit: { limit: 1, periodMs: 1, key: later } }).send('x')).rejects.toMatchObject({
      message: expect.stringContaining('is a promise; it must be a string'),
    })
  })

  it('rejects an input whose key is too long as invalid input', async () => {
    const { send } = startWorld({ concurrency: { limit: 1, key: textOf } })

    await expect(send('x'.repeat(513))).rejects.toMatchObject({ code: 'invalid-input' })
  })
})

describe('a rate limit', () => {
  const rateLimit = { limit: 2, periodMs: 1_000 }

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
    const { engine, send, open, started } = startWorld({ rateLimit, recovery: 'resume' }, { storage, clock })
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
    const { engine, send, started } = startWorld({ rateLimit: { limit: 1, periodMs: 10_000 } })
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
    const { engine, send, open, started } = startWorld({ rateLimit: { limit: 1, periodMs: 2_000 } }, { storage, clock })
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
    const { engine, send, started } = startWorld({ rateLimit: { limit: 1, periodMs: 1_000 } })
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
    const { engine, send, open, started } = startWorld({ recovery: 'fail' }, { storage, clock, concurrency: 1 })
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
    const { engine, send, open, started } = startWorld({ recovery: 'fail' }, { storage, clock, concurrency: 1 })
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

describe('a debounced agent', () => {
  const debounce = { periodMs: 1_000, key: textOf }

  it('starts one run with the newest input, a period after the last request', async () => {
    const { engine, send, started } = startWorld({ debounce: { periodMs: 1_000, key: () => 'doc' } })
    await engine.start()
    const replies = []
    for (const input of ['v1', 'v2', 'v3']) {
      replies.push(await send(input))
      await engine.advance(900)
    }
    expect(started).toEqual([])
    await engine.advance(100)

    expect(started).toEqual(['v3'])
    expect(new Set(replies.map(({ runId }) => runId)).size).toBe(1)
    const types = (await engine.eventsOf(replies[0]?.runId ?? '')).map(({ type, payload }) => [
      type,
      JSON.parse(payload ?? '{}').reason,
    ])
    expect(types).toEqual([
      ['run.queued', undefined],
      ['run.queued', 'debounced'],
      ['run.queued', 'debounced'],
      ['run.started', undefined],
    ])
  })

  it('combines requests that arrive at the same time', async () => {
    const { engine, started } = startWorld({ debounce: { periodMs: 1_000, key: () => 'doc' } })
    await engine.start()

    const requests = Array.from({ length: 20 }, (_, input) =>
      engine.run('work', { body: { input }, answer: 'accepted' }),
    )
    const replies = await Promise.all(requests)
    await engine.advance(1_020)

    expect([new Set(replies.map(({ runId }) => runId)).size, started]).toEqual([1, [19]])
  })

  it('moves the deadline of the run together with its start', async () => {
    const debounced = { debounce: { periodMs: 1_000, key: () => 'doc' }, budget: { wallClockMs: 500 } }
    const { engine, send, started } = startWorld(debounced)
    await engine.start()
    const replies = []
    for (const input of [1, 2, 3, 4]) {
      replies.push(await send(input))
      await engine.advance(900)
    }
    await engine.advance(100)
    expect(started).toEqual([4])
    await engine.advance(500)

    const run = await engine.find(replies[0]?.runId ?? '')
    expect([run?.finishReason, run?.deadlineAt]).toEqual(['budget-exhausted', Date.UTC(2025, 0, 1) + 4_200])
  })

  it('starts when the newest request says so, even if an earlier request had a longer delay', async () => {
    const { engine, send, started } = startWorld({ debounce: { periodMs: 1_000, key: () => 'doc' } })
    await engine.start()
    await send('slow', { delayMs: 60_000 })
    await send('soon')

    await engine.advance(1_000)

    expect(started).toEqual(['soon'])
  })

  it('starts at the latest after maxWaitMs', async () => {
    const { engine, send, started } = startWorld({ debounce: { periodMs: 1_000, key: () => 'doc', maxWaitMs: 2_500 } })
    await engine.start()
    for (const input of [1, 2, 3, 4]) {
      await send(input)
      await engine.advance(800)
    }

    expect(started).toEqual([4])
  })

  it.each<[string, readonly Parameters<ReturnType<typeof startWorld>['send']>[]]>([
    ['keys', [['a'], ['b']]],
    ['owners', [['a'], ['a', {}, { principal: { subject: 'bob', scopes: ['agents:invoke'] } }]]],
    [
      'sessions',
      [
        ['a', { sessionId: 's1' }],
        ['a', { sessionId: 's2' }],
      ],
    ],
  ])('does not combine requests of different %s', async (_, requests) => {
    const { engine, send, started } = startWorld({ debounce })
    await engine.start()

    for (const request of requests) await send(...request)
    await engine.advance(1_000)

    expect(started).toHaveLength(2)
  })

  it('appends the message of each combined request to the session', async () => {
    const { engine, send } = startWorld({ debounce: { periodMs: 1_000, key: 'session' } })
    await send('one', { sessionId: 's1' })
    await send('two', { sessionId: 's1' })

    const { items } = await engine.storage.sessions.messages('s1', { limit: 10, order: 'asc' })

    expect(items.map(({ content }) => content)).toEqual(['"one"', '"two"'])
  })

  it('answers each of the waiting callers with the outcome of the one run', async () => {
    const echo = agentOf('work', async (input) => input, { debounce: { periodMs: 1_000, key: () => 'doc' } })
    const engine = createTestEngine({ agents: [echo] })
    await engine.start()
    const keyOf = (id: string) => ({ id, fingerprint: id })
    const first = engine.run('work', { body: { input: 'old' }, key: keyOf('k1') })
    await untilIdle(engine.clock)
    const second = engine.run('work', { body: { input: 'new' }, key: keyOf('k2') })
    await untilIdle(engine.clock)
    await engine.advance(1_001)

    const outcomes = [outcomeOf(await first), outcomeOf(await second)]
    const repeated = outcomeOf(await engine.run('work', { body: { input: 'old' }, key: keyOf('k1') }))
    const repeatedSecond = outcomeOf(await engine.run('work', { body: { input: 'new' }, key: keyOf('k2') }))

    expect([...outcomes, repeated, repeatedSecond].map(({ result }) => result)).toEqual(['new', 'new', 'new', 'new'])
    expect(new Set([...outcomes, repeated, repeatedSecond].map(({ runId }) => runId)).size).toBe(1)
  })

  it('changes the keys of the run together with its input', async () => {
    const concurrency = { limit: 1, key: (input: unknown) => textOf(input) }
    const { engine, send, started } = startWorld({ debounce: { periodMs: 1_000, key: () => 'doc' }, concurrency })
    await engine.start()
    await send('a')
    await engine.advance(1_001)
    await send('a')
    await send('b')
    await engine.advance(1_001)

    expect(started).toEqual(['a', 'b'])
  })

  it('keeps an input that arrives while the run is being started', async () => {
    const storage = createInMemoryStorage()
    const { engine, send, started } = startWorld({ debounce: { periodMs: 1_000, key: () => 'doc' } }, { storage })
    const { runId } = await send('old')
    const stale = (await engine.find(runId)) as RunRecord
    await send('new')

    // The timer driver has read the run before the second request changed it.
    const at = stale.startAt as EpochMs
    const outcome = await storage.unitOfWork.commit([
      {
        type: 'run.transition',
        ...{ runId, from: ['queued'], attempt: 1, startAt: at },
        change: { status: 'running', startedAt: at },
      },
    ])
    await engine.start()
    await engine.advance(1_001)

    expect([outcome.committed, started]).toEqual([false, ['new']])
  })
})
