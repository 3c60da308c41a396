import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { aRun, createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, workflowOf } from './test-engine.fixture.ts'

const key = { id: 'key-1', fingerprint: 'same' }

describe('processes that share a storage', () => {
  it('read due timers only in the process that holds the duty, which may change', async () => {
    const storage = createInMemoryStorage()
    const shared = { clock: createManualClock(), ids: createSequenceIds(), isStorageShared: true }
    const flow = workflowOf('naps', async (_, { sleep }) => [await sleep('first', 5_000), await sleep('second', 5_000)])
    let holder = 'one'
    const reads: string[] = []
    const start = async (name: string) => {
      const due: Storage['steps']['due'] = (now, limit) => {
        reads.push(name)
        return storage.steps.due(now, limit)
      }
      const engine = createTestEngine({
        ...shared,
        storage: { ...storage, steps: { ...storage.steps, due } },
        workflows: [flow],
        executor: name,
        isMine: (duty) => duty === 'timers' && holder === name,
      })
      await engine.start()
      return engine
    }
    const one = await start('one')
    await start('other')
    const { runId = '' } = await one.execute('naps')
    await one.advance(0)
    await one.advance(5_000)
    expect(new Set(reads)).toEqual(new Set(['one']))

    reads.length = 0
    holder = 'other'
    for (let ms = 0; ms < 6_000; ms += 500) await one.advance(500)

    expect(new Set(reads)).toEqual(new Set(['other']))
    expect(await one.find(runId)).toMatchObject({ status: 'completed' })
  })

  it('name themselves in the runs that they execute and the keys of these runs', async () => {
    const open = gate()
    const agents = [agentOf('held', () => open.promise, { concurrency: 'single', onBusy: 'queue' })]
    const engine = createTestEngine({ agents, executor: 'node-1', isStorageShared: true })
    const [first, second] = [await engine.run('held', { answer: 'accepted' }), engine.run('held', { key })]
    await engine.advance(0)
    const executorOf = async (runId = '') => (await engine.find(runId))?.executor
    const { runId = '' } = (await engine.storage.idempotency.find(key.id, engine.clock.now())) ?? {}

    expect([await executorOf(first.runId), await executorOf(runId)]).toEqual(['node-1', undefined])
    expect((await engine.storage.idempotency.find(key.id, engine.clock.now()))?.executor).toBe('node-1')

    open.resolve()
    await engine.advance(0)
    await second
    expect([await executorOf(first.runId), await executorOf(runId)]).toEqual([undefined, undefined])
  })

  it('name themselves in a queued run when they start it', async () => {
    const [first, second] = [gate(), gate()]
    const gates = [first, second]
    const agents = [agentOf('held', async () => gates.shift()?.promise, { concurrency: 'single', onBusy: 'queue' })]
    const engine = createTestEngine({ agents, executor: 'node-1' })
    await engine.run('held', { answer: 'accepted' })
    const { runId = '' } = await engine.run('held', { answer: 'accepted' })
    await engine.advance(0)
    expect(await engine.find(runId)).toMatchObject({ status: 'queued' })
    expect((await engine.find(runId))?.executor).toBeUndefined()

    first.resolve()
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'running', executor: 'node-1', execution: 1 })
    second.resolve()
    await engine.advance(0)
  })

  it('recover no run of another process when they start, and a single process recovers all', async () => {
    const storage = createInMemoryStorage()
    const runs = ['node-1', 'node-2', undefined].map((executor) =>
      aRun({ id: `run of ${executor}`, targetId: 'gone', status: 'running', execution: 1, executor }),
    )
    await storage.unitOfWork.commit(runs.map((run) => ({ type: 'run.insert', run }) as const))
    const statuses = async () =>
      Promise.all(runs.map(async ({ id }) => (await storage.runs.find(id, EVERY_ROW))?.status))

    await createTestEngine({ storage, executor: 'node-1' }).recover()
    expect(await statuses()).toEqual(['failed', 'running', 'failed'])

    await createTestEngine({ storage }).recover()
    expect(await statuses()).toEqual(['failed', 'failed', 'failed'])
  })
})
