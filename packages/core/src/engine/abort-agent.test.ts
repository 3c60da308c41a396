import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, untilIdle } from './test-engine.fixture.ts'

const accepted = { answer: 'accepted' } as const

describe('abortAgent', () => {
  it('skips a run that completes while an earlier run is being aborted', async () => {
    const storage = createInMemoryStorage()
    const find: typeof storage.runs.find = (...args) => untilIdle().then(() => storage.runs.find(...args))
    const open = gate()
    const task = agentOf('task', async (input, { signal }) => {
      if (input === 'first') signal.addEventListener('abort', () => open.resolve())
      await open.promise
    })
    const engine = createTestEngine({ agents: [task], storage: { ...storage, runs: { ...storage.runs, find } } })
    const first = await engine.run('task', { ...accepted, body: { input: 'first' } })
    const second = await engine.run('task', accepted)
    await engine.advance(0)

    const { body } = await engine.abortAgent({ agentId: 'task', visibility: EVERY_ROW })

    expect(body).toEqual({ aborted: [first.runId] })
    expect((await engine.find(second.runId ?? ''))?.status).toBe('completed')
  })

  it('skips a run that is deleted while an earlier run is being aborted', async () => {
    const storage = createInMemoryStorage()
    let deletedId: string | undefined
    const find: typeof storage.runs.find = async (id, ...rest) =>
      id === deletedId ? undefined : storage.runs.find(id, ...rest)
    const task = agentOf('task', () => new Promise(() => undefined))
    const engine = createTestEngine({ agents: [task], storage: { ...storage, runs: { ...storage.runs, find } } })
    const [first, second, third] = [
      await engine.run('task', accepted),
      await engine.run('task', accepted),
      await engine.run('task', accepted),
    ]
    deletedId = second.runId

    const { body } = await engine.abortAgent({ agentId: 'task', visibility: EVERY_ROW })

    expect(body).toEqual({ aborted: [first.runId, third.runId] })
  })

  it('aborts nothing for an agent without active runs', async () => {
    const engine = createTestEngine({ agents: [agentOf('task', async () => 1)] })
    await engine.run('task')

    expect(await engine.abortAgent({ agentId: 'task', visibility: EVERY_ROW })).toEqual({
      status: 202,
      body: { aborted: [] },
    })
  })

  it('rejects with the error of a failing storage', async () => {
    const storage = createInMemoryStorage()
    let isBroken = false
    const commit: typeof storage.unitOfWork.commit = (writes) =>
      isBroken ? Promise.reject(new Error('disk')) : storage.unitOfWork.commit(writes)
    const engine = createTestEngine({
      agents: [agentOf('task', () => new Promise(() => undefined))],
      storage: { ...storage, unitOfWork: { commit } },
    })
    await engine.run('task', accepted)
    isBroken = true

    await expect(engine.abortAgent({ agentId: 'task', visibility: EVERY_ROW })).rejects.toThrow('disk')
  })
})
