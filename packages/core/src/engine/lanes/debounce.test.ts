import { createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs, RunRecord } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../test-engine.fixture.ts'
import { startWorld, textOf } from './flow-control.fixture.ts'

describe('a debounced agent', () => {
  const debounce = { period: 1_000, key: textOf }

  it('starts one run with the newest input, a period after the last request', async () => {
    const { engine, send, started } = startWorld({ debounce: { period: 1_000, key: () => 'doc' } })
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
    const { engine, started } = startWorld({ debounce: { period: 1_000, key: () => 'doc' } })
    await engine.start()

    const requests = Array.from({ length: 20 }, (_, input) =>
      engine.run('work', { body: { input }, answer: 'accepted' }),
    )
    const replies = await Promise.all(requests)
    await engine.advance(1_020)

    expect([new Set(replies.map(({ runId }) => runId)).size, started]).toEqual([1, [19]])
  })

  it('moves the deadline of the run together with its start', async () => {
    const debounced = { debounce: { period: 1_000, key: () => 'doc' }, budget: { maxDuration: 500 } }
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
    const { engine, send, started } = startWorld({ debounce: { period: 1_000, key: () => 'doc' } })
    await engine.start()
    await send('slow', { delayMs: 60_000 })
    await send('soon')

    await engine.advance(1_000)

    expect(started).toEqual(['soon'])
  })

  it('starts at the latest after maxWaitMs', async () => {
    const { engine, send, started } = startWorld({ debounce: { period: 1_000, key: () => 'doc', maxWait: 2_500 } })
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
    const { engine, send } = startWorld({ debounce: { period: 1_000, key: 'session' } })
    await send('one', { sessionId: 's1' })
    await send('two', { sessionId: 's1' })

    const { items } = await engine.storage.sessions.messages('s1', { limit: 10, order: 'asc' })

    expect(items.map(({ content }) => content)).toEqual(['"one"', '"two"'])
  })

  it('answers each of the waiting callers with the outcome of the one run', async () => {
    const echo = agentOf('work', async (input) => input, { debounce: { period: 1_000, key: () => 'doc' } })
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
    const { engine, send, started } = startWorld({ debounce: { period: 1_000, key: () => 'doc' }, concurrency })
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
    const { engine, send, started } = startWorld({ debounce: { period: 1_000, key: () => 'doc' } }, { storage })
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
