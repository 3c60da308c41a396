import { createInMemoryStorage } from '@perdure/in-memory'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine, gate, untilIdle } from './test-engine.fixture.ts'

const key = { id: 'key-1', fingerprint: 'same' }
const never = () => new Promise<never>(() => undefined)

/** Creates engines one after another on the same storage, as restarts of the server do. */
const processes = () => {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  return (options: Parameters<typeof createTestEngine>[0]) => createTestEngine({ ...shared, ...options })
}

const restart = async (engine: ReturnType<typeof createTestEngine>) => {
  const recovered = await engine.recover()
  await engine.start()
  await untilIdle()
  return recovered
}

describe('recover', () => {
  it('fails a run whose process died, and stores that outcome under the key of the run', async () => {
    const start = processes()
    const before = start({ agents: [agentOf('task', never)] })
    before.run('task', { key }).catch(() => undefined)
    await untilIdle()

    const after = start({ agents: [agentOf('task', async () => 'again')] })
    expect(await restart(after)).toEqual({ interrupted: 1, requeued: 0 })

    const reply = await after.run('task', { key })
    expect(reply).toMatchObject({ status: 200, replayed: true })
    expect(await after.find(reply.runId ?? '')).toMatchObject({
      ...{ status: 'failed', finishReason: 'interrupted', attempt: 1 },
      error: { code: 'run-interrupted' },
    })
  })

  it('executes a resumable run again as the next attempt, and stores the outcome under its key', async () => {
    const start = processes()
    const before = start({ agents: [agentOf('task', never, { onCrash: 'retry' })] })
    before.run('task', { key }).catch(() => undefined)
    await before.advance(0)

    const attempts: number[] = []
    const open = gate()
    const after = start({
      agents: [
        agentOf(
          'task',
          async (_, { attempt }) => {
            attempts.push(attempt)
            await open.promise
            return 'second'
          },
          { onCrash: 'retry' },
        ),
      ],
    })
    expect(await restart(after)).toEqual({ interrupted: 0, requeued: 1 })

    await expect(after.run('task', { key })).rejects.toMatchObject({ kind: 'idempotency-in-flight' })
    open.resolve()
    await untilIdle()
    expect(await after.run('task', { key })).toMatchObject({ replayed: true, status: 200 })
    expect(attempts).toEqual([2])
  })

  it('fails a run that has used up its recoveries', async () => {
    const start = processes()
    const task = agentOf('task', never, { onCrash: 'retry', recoveries: 1 })
    const first = start({ agents: [task] })
    const { runId = '' } = await first.run('task', { answer: 'accepted' })

    await restart(start({ agents: [task] }))
    const last = start({ agents: [task] })
    await restart(last)

    expect(await last.find(runId)).toMatchObject({
      status: 'failed',
      attempt: 2,
      error: { code: 'attempts-exhausted' },
    })
  })

  it('drops late writes of an earlier attempt', async () => {
    const start = processes()
    const open = gate<string>()
    let stale: RunContext | undefined
    const before = start({
      agents: [
        agentOf(
          'task',
          (_, context) => {
            stale = context
            return open.promise
          },
          { onCrash: 'retry' },
        ),
      ],
    })
    const { runId = '' } = await before.run('task', { answer: 'accepted' })

    const after = start({ agents: [agentOf('task', never, { onCrash: 'retry' })] })
    await restart(after)
    await expect(stale?.emit('text.delta', { delta: 'stale' })).rejects.toMatchObject({ code: 'run-not-active' })
    open.resolve('stale')
    await untilIdle()

    expect(await after.find(runId)).toMatchObject({ status: 'running', attempt: 2 })
    expect((await after.find(runId))?.result).toBeUndefined()
    expect((await after.eventsOf(runId)).map(({ type }) => type)).toEqual(['run.started', 'run.queued', 'run.started'])
  })

  it('executes queued runs in order of creation', async () => {
    const start = processes()
    const before = start({ agents: [agentOf('task', never)], concurrency: 1 })
    for (const input of [1, 2, 3]) await before.run('task', { body: { input }, answer: 'accepted' })

    const seen: unknown[] = []
    const after = start({ agents: [agentOf('task', async (input) => seen.push(input))], concurrency: 1 })
    await restart(after)

    expect(seen).toEqual([2, 3])
  })

  it('leaves a run queued if its agent is not registered', async () => {
    const start = processes()
    const before = start({ agents: [agentOf('task', never)], concurrency: 1 })
    await before.run('task', { answer: 'accepted' })
    const queued = await before.run('task', { answer: 'accepted' })

    const after = start({ agents: [] })
    await restart(after)

    expect((await after.find(queued.runId ?? ''))?.status).toBe('queued')
  })
})

describe('drain', () => {
  it('waits for active runs until its timeout', async () => {
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)] })
    await engine.run('slow', { answer: 'accepted' })

    const tooShort = engine.drain(100)
    for (let n = 0; n < 10; n++) {
      engine.clock.advance(25)
      await untilIdle()
    }
    expect(await tooShort).toBe(false)
    const enough = engine.drain(1_000)
    open.resolve()
    await untilIdle()
    engine.clock.advance(25)
    expect(await enough).toBe(true)
  })
})

describe('release', () => {
  it('aborts a run with reason shutdown and answers its waiters', async () => {
    let reason: unknown
    const engine = createTestEngine({
      agents: [
        agentOf('task', (_, { signal }) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
          })
          return never()
        }),
      ],
    })
    const waiting = engine.run('task')
    await untilIdle()

    await engine.release()

    expect(JSON.parse((await waiting).json ?? '')).toMatchObject({ status: 'aborted', finishReason: 'shutdown' })
    expect(reason).toBe('shutdown')
  })

  it('requeues a resumable run for the next start and answers its waiters with 202', async () => {
    const start = processes()
    const engine = start({ agents: [agentOf('task', never, { onCrash: 'retry' })] })
    const waiting = engine.run('task', { key })
    await untilIdle()

    await engine.release()
    expect(await waiting).toMatchObject({ status: 202, location: expect.stringMatching(/runs/) })

    const next = start({ agents: [agentOf('task', async () => 'next', { onCrash: 'retry' })] })
    await restart(next)
    expect(await next.run('task', { key })).toMatchObject({ replayed: true })
  })
})
