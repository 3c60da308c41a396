import { createInMemoryStorage } from '@perdure/in-memory'
import { perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle } from './test-engine.fixture.ts'

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
