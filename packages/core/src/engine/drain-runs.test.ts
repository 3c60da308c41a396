import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, perdureError, storageBusy } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, outcomeOf } from './test-engine.fixture.ts'

const TEN_TOKENS = { provider: 'p', model: 'm', inputTokens: 10 }
const never = () => new Promise<never>(() => undefined)

describe('releaseRuns', () => {
  it('answers with the stored status of a run that ends at the same moment', async () => {
    const open = gate<string>()
    const engine = createTestEngine({ agents: [agentOf('task', () => open.promise, { onCrash: 'retry' })] })
    const reply = engine.run('task')
    await engine.advance(0)

    open.resolve('done')
    await engine.release()
    await engine.advance(0)

    const { runId, status } = outcomeOf(await reply)
    expect((await engine.find(runId))?.status).toBe(status)
    expect(['completed', 'queued']).toContain(status)
  })

  it('does not requeue a run that was already aborted in the storage', async () => {
    const engine = createTestEngine({ agents: [agentOf('task', never, { onCrash: 'retry' })] })
    const { runId = '' } = await engine.run('task', { answer: 'accepted' })
    await engine.advance(0)
    await engine.storage.unitOfWork.commit([
      { type: 'run.transition', runId, from: ['running'], attempt: 1, change: { status: 'aborted' } },
    ])

    await engine.release()

    expect(await engine.find(runId)).toMatchObject({ status: 'aborted', attempt: 1 })
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toEqual(['run.started'])
  })

  it.each([
    ['fail', 'aborted', storageBusy()],
    ['retry', 'queued', storageBusy()],
    ['retry', 'queued', perdureError('storage-unavailable')],
  ] as const)(
    'retries the commit for a run with onCrash %s that ends as %s after %s',
    async (onCrash, status, error) => {
      const storage = createInMemoryStorage()
      let refusals = 0
      const commit: typeof storage.unitOfWork.commit = (writes) =>
        refusals-- > 0 ? Promise.reject(error) : storage.unitOfWork.commit(writes)
      const spending = agentOf('task', async (_, { usage }) => [await usage(TEN_TOKENS), await never()], { onCrash })
      const engine = createTestEngine({ agents: [spending], storage: { ...storage, unitOfWork: { commit } } })
      const { runId = '' } = await engine.run('task', { answer: 'accepted' })
      await engine.advance(0)

      refusals = 2
      const released = engine.release()
      for (let ms = 0; ms < 1_000; ms += 100) await engine.advance(100)
      await released

      expect(await engine.find(runId)).toMatchObject({ status, usage: { inputTokens: 10 } })
      const last = (await engine.eventsOf(runId)).at(-1)
      if (status === 'aborted') expect(JSON.parse(last?.payload ?? '')).toMatchObject({ usage: { inputTokens: 10 } })
    },
  )

  it('does not wait for code that ignores its abort signal', async () => {
    const engine = createTestEngine({ agents: [agentOf('deaf', never)] })
    const { runId = '' } = await engine.run('deaf', { answer: 'accepted' })
    await engine.advance(0)

    await engine.release()

    expect(await engine.find(runId)).toMatchObject({ status: 'aborted', finishReason: 'shutdown' })
  })

  it('answers the waiters of a queued run and leaves it queued for the next start', async () => {
    const engine = createTestEngine({ agents: [agentOf('task', never)], concurrency: 1 })
    await engine.run('task', { answer: 'accepted' })
    const waiting = engine.run('task')
    await engine.advance(0)

    const drained = engine.drain(0)
    await engine.advance(0)
    expect(await drained).toBe(false)
    await engine.release()

    const { runId, status } = outcomeOf(await waiting)
    expect(status).toBe('queued')
    expect((await engine.storage.runs.find(runId, EVERY_ROW))?.status).toBe('queued')
  })
})
