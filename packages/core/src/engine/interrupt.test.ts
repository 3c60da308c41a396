import { createInMemoryStorage } from '@perdure/in-memory'
import { perdureError, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import type { StartRunRequest } from './start-request.ts'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle } from './test-engine.fixture.ts'

/** A chat whose turns think for a second, on a server with one slot. `open` starts another server on the same storage. */
function thinkingWorld(storage: Storage = createInMemoryStorage()) {
  const shared = { storage, clock: createManualClock(), ids: createSequenceIds() }
  const work = gate()
  const answered: unknown[] = []
  const think = async (input: unknown, { sleep }: RunContext) => {
    await sleep('think', '1s')
    answered.push(input)
  }
  const open = () =>
    createTestEngine({
      ...{ ...shared, concurrency: 1, createSessionOnInvoke: true },
      agents: [
        agentOf('chat', think, { concurrency: 'session', onBusy: 'interrupt', onCrash: 'retry' }),
        agentOf('work', () => work.promise),
      ],
    })
  const engine = open()
  const start = async (agentId: string, body: StartRunRequest['body'], on = engine) => {
    const reply = await on.run(agentId, { body, answer: 'accepted' })
    await untilIdle(shared.clock)
    return outcomeOf(reply).runId
  }
  const statusOf = async (runId: string) => (await engine.find(runId))?.status
  return { ...{ ...shared, engine, open, start, statusOf, work, answered } }
}

const message = (input: string) => ({ input, sessionId: 'ada' })

const LATEST = { concurrency: 'single', onBusy: 'interrupt' } as const

describe('a run with onBusy interrupt', () => {
  it('completes if the previous run ends on its own', async () => {
    const storage = createInMemoryStorage()
    const find: typeof storage.runs.find = (...args) => untilIdle().then(() => storage.runs.find(...args))
    const open = gate<string>()
    const agents = [agentOf('latest', () => open.promise, LATEST)]
    const engine = createTestEngine({ agents, storage: { ...storage, runs: { ...storage.runs, find } } })
    const first = engine.run('latest')
    await engine.advance(0)

    const second = engine.run('latest')
    open.resolve('done')

    expect(outcomeOf(await first)).toMatchObject({ status: 'completed' })
    expect(outcomeOf(await second)).toMatchObject({ status: 'completed' })
  })

  it.each(['SQLITE_BUSY', 'storage-unavailable', 'storage-full'] as const)(
    'replaces the previous run once the storage no longer reports %s',
    async (refusal) => {
      const storage = createInMemoryStorage()
      const { commit } = storage.unitOfWork
      let refusals = 2
      const unitOfWork: typeof storage.unitOfWork = {
        commit: (writes) =>
          writes.some(({ type }) => type === 'run.transition') && refusals-- > 0
            ? Promise.reject(perdureError(refusal))
            : commit(writes),
      }
      const open = gate<string>()
      const agents = [agentOf('latest', () => open.promise, LATEST)]
      const engine = createTestEngine({ agents, storage: { ...storage, unitOfWork } })
      const first = engine.run('latest')
      await engine.advance(0)
      const second = engine.run('latest')
      await engine.advance(0)

      for (let ms = 0; ms < 10_000; ms += 100) await engine.advance(100)
      open.resolve('done')

      expect(outcomeOf(await first)).toMatchObject({ status: 'aborted' })
      expect(outcomeOf(await second)).toMatchObject({ status: 'completed' })
    },
  )

  it('is aborted by the next run, which may be aborted in turn', async () => {
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('latest', () => open.promise, LATEST)] })
    const replies = [1, 2, 3, 4].map(() => engine.run('latest'))
    await engine.advance(5_000)

    open.resolve()

    const statuses = (await Promise.all(replies)).map((reply) => outcomeOf(reply).status)
    expect(statuses).toEqual(['aborted', 'aborted', 'aborted', 'completed'])
  })

  it('is queued when the previous run cannot be aborted', async () => {
    const storage = createInMemoryStorage()
    const { commit } = storage.unitOfWork
    const unitOfWork: typeof storage.unitOfWork = {
      commit: (writes) =>
        writes.some(({ type }) => type === 'run.transition')
          ? Promise.reject(perdureError('storage-full'))
          : commit(writes),
    }
    const agents = [agentOf('latest', () => new Promise(() => undefined), LATEST)]
    const engine = createTestEngine({ agents, storage: { ...storage, unitOfWork } })
    await engine.run('latest', { answer: 'accepted' })

    const reply = await engine.run('latest', { answer: 'accepted' })

    expect(reply.status).toBe(202)
    expect((await engine.find(reply.runId ?? ''))?.status).toBe('queued')
  })
})

describe('a message that interrupts', () => {
  it('aborts a turn that has begun and waits for a slot of the server', async () => {
    const { engine, clock, start, statusOf, work, answered } = thinkingWorld()
    const first = await start('chat', message('first'))
    await start('work', { input: null })
    await engine.advance(1_000)
    expect(await statusOf(first)).toBe('queued')

    const second = await start('chat', message('second'))
    expect([await statusOf(first), await statusOf(second)]).toEqual(['aborted', 'queued'])

    work.resolve()
    await untilIdle(clock)
    await engine.advance(1_000)
    expect([await statusOf(second), answered]).toEqual(['completed', ['second']])
  })

  it('does not abort a turn that waits for its first slot: nobody has answered it yet', async () => {
    const { engine, clock, start, statusOf, work, answered } = thinkingWorld()
    await start('work', { input: null })
    const first = await start('chat', message('first'))

    const second = await start('chat', message('second'))
    expect([await statusOf(first), await statusOf(second)]).toEqual(['queued', 'queued'])

    work.resolve()
    await untilIdle(clock)
    await engine.advance(1_000)
    await engine.advance(1_000)
    expect([await statusOf(first), await statusOf(second), answered]).toEqual([
      'completed',
      'completed',
      ['first', 'second'],
    ])
  })
})
