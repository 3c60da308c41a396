import { createInMemoryStorage } from '@perdure/in-memory'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle, workflowOf } from './test-engine.fixture.ts'

describe('startRun when slots are taken', () => {
  it('releases the slot when the storage refuses the run', async () => {
    const storage = createInMemoryStorage()
    let isFull = true
    const commit = storage.unitOfWork.commit
    const flaky = {
      ...storage,
      unitOfWork: {
        commit: (writes: Parameters<typeof commit>[0]) => (isFull ? Promise.reject(new Error('full')) : commit(writes)),
      },
    }
    const engine = createTestEngine({
      agents: [agentOf('single', async () => 1, { concurrency: 'single' })],
      storage: flaky,
    })

    await expect(engine.run('single')).rejects.toThrow('full')
    isFull = false

    expect(outcomeOf(await engine.run('single')).status).toBe('completed')
  })

  it('queues runs beyond the concurrency limit in order and reports their positions', async () => {
    const open = gate()
    const order: unknown[] = []
    const work = agentOf('work', async (input) => {
      order.push(input)
      if (input === 1) await open.promise
    })
    const engine = createTestEngine({ agents: [work], concurrency: 1 })

    await engine.run('work', { body: { input: 1 }, answer: 'accepted' })
    const second = await engine.run('work', { body: { input: 2 }, answer: 'accepted' })
    const third = await engine.run('work', { body: { input: 3 }, answer: 'accepted' })
    expect([outcomeOf(second), outcomeOf(third)]).toMatchObject([
      { status: 'queued', position: 1 },
      { status: 'queued', position: 2 },
    ])
    open.resolve()
    await untilIdle()

    expect(order).toEqual([1, 2, 3])
    const types = (await engine.eventsOf(third.runId ?? '')).map(({ type }) => type)
    expect(types).toEqual(['run.queued', 'run.started', 'run.completed'])
  })

  it('rejects a run when the queue is full', async () => {
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)], concurrency: 1, maxQueued: 1 })
    await engine.run('slow', { answer: 'accepted' })
    await engine.run('slow', { answer: 'accepted' })

    await expect(engine.run('slow')).rejects.toMatchObject({ code: 'queue-full' })
    open.resolve()
    await untilIdle()
  })

  it('aborts the previous run when onBusy is interrupt', async () => {
    const latest = agentOf(
      'latest',
      (input, { signal }) =>
        new Promise((resolve) => {
          if (input === 'last') resolve('won')
          signal.addEventListener('abort', () => resolve('late'))
        }),
      { concurrency: 'single', onBusy: 'interrupt' },
    )
    const engine = createTestEngine({ agents: [latest] })
    const first = engine.run('latest')
    await untilIdle()

    const second = await engine.run('latest', { body: { input: 'last' } })

    expect(outcomeOf(await first)).toMatchObject({ status: 'aborted', finishReason: 'aborted' })
    expect(outcomeOf(second)).toMatchObject({ status: 'completed', result: 'won' })
  })

  it('starts only one of many concurrent executions of a thread, and accepts another once it has ended', async () => {
    const open = gate()
    const engine = createTestEngine({ workflows: [workflowOf('flow', () => open.promise)] })
    const execute = () => engine.execute('flow', { body: { threadId: 'one' } })

    const all = await Promise.allSettled(Array.from({ length: 10 }, execute))

    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(all.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))).toEqual(
      Array(9).fill('agent-busy'),
    )
    await expect(execute()).rejects.toMatchObject({ code: 'agent-busy' })
    open.resolve()
    await untilIdle(engine.clock)
    expect((await execute()).status).toBe(202)
  })

  it('aborts every superseded run when onBusy is interrupt, and executes only the newest', async () => {
    const seen: unknown[] = []
    const open = gate()
    const deaf = agentOf(
      'deaf',
      async (input) => {
        seen.push(input)
        await open.promise
      },
      { concurrency: 'single', onBusy: 'interrupt' },
    )
    const engine = createTestEngine({ agents: [deaf] })
    const waiting = []
    for (const input of [1, 2, 3, 4]) {
      waiting.push(engine.run('deaf', { body: { input } }))
      await untilIdle()
    }
    open.resolve()

    expect((await Promise.all(waiting)).map((reply) => outcomeOf(reply).status)).toEqual([
      'aborted',
      'aborted',
      'aborted',
      'completed',
    ])
    expect(seen).toEqual([1, 4])
  })
})
