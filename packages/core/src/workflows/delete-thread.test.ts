import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Write } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'

describe('deleteThread', () => {
  it('aborts the active run of the thread and leaves other threads alone', async () => {
    const signals: AbortSignal[] = []
    const endless = workflowOf('flow', async (_, { signal }) => {
      signals.push(signal)
      await new Promise(() => undefined)
    })
    const engine = createTestEngine({ workflows: [endless] })
    const of = (id: string, threadId: string) =>
      aRun({ id, kind: 'workflow', targetId: 'flow', threadId, status: 'queued', createdAt: engine.clock.now() })
    const runs = [{ ...of('run_1', 'thr_1'), status: 'failed' as const }, of('run_2', 'thr_1'), of('run_3', 'thr_2')]
    await engine.storage.unitOfWork.commit(runs.map((run) => ({ type: 'run.insert', run }) as const))
    await engine.start()
    await untilIdle(engine.clock)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])

    await engine.deleteThread({ workflowId: 'flow', threadId: 'thr_1', visibility: EVERY_ROW })
    await untilIdle(engine.clock)

    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    const { items } = await engine.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ id, status }) => [id, status])).toEqual([['run_3', 'running']])
  })

  it('deletes the stored answers about the thread, but keeps their keys reserved', async () => {
    const echo = workflowOf('flow', async (input) => input)
    const engine = createTestEngine({ workflows: [echo] })
    const keyOf = (name: string) => ({ id: name.repeat(64), fingerprint: 'f' })
    const body = (threadId: string) => ({ body: { threadId, input: 'secret' }, answer: 'outcome' as const })
    await engine.execute('flow', { ...body('thr_1'), key: keyOf('a') })
    await engine.execute('flow', { ...body('thr_2'), key: keyOf('b') })

    await engine.deleteThread({ workflowId: 'flow', threadId: 'thr_1', visibility: EVERY_ROW, key: keyOf('c') })

    expect(await engine.recall(keyOf('a'))).toMatchObject({ status: 404, replayed: true })
    expect(JSON.stringify(await engine.recall(keyOf('a')))).not.toContain('secret')
    expect(JSON.stringify(await engine.recall(keyOf('b')))).toContain('secret')
    expect(await engine.recall(keyOf('c'))).toMatchObject({ status: 204 })
  })

  /** An engine that calls `meanwhile` once, right before the next commit with a write of this type. */
  const createInterruptedEngine = (
    type: Write['type'],
    meanwhile: (engine: ReturnType<typeof createTestEngine>) => Promise<unknown>,
  ) => {
    const storage = createInMemoryStorage()
    const signals: AbortSignal[] = []
    const endless = workflowOf('flow', async (_, { signal }) => {
      signals.push(signal)
      await new Promise(() => undefined)
    })
    let isArmed = false
    const commit = async (writes: readonly Write[]) => {
      if (isArmed && writes.some((write) => write.type === type)) {
        isArmed = false
        await meanwhile(engine)
      }
      return storage.unitOfWork.commit(writes)
    }
    const engine = createTestEngine({ storage: { ...storage, unitOfWork: { commit } }, workflows: [endless] })
    const arm = () => {
      isArmed = true
    }
    return { engine, signals, arm }
  }
  const THREAD = { workflowId: 'flow', threadId: 'thr_1' }
  const execute = (engine: ReturnType<typeof createTestEngine>) =>
    engine.execute('flow', { body: { threadId: 'thr_1' } })

  it('rejects an execution that is requested during the deletion', async () => {
    const refused: unknown[] = []
    const { engine, signals, arm } = createInterruptedEngine('thread.delete', async (at) =>
      execute(at).catch((error: unknown) => refused.push(error)),
    )
    await execute(engine)
    await untilIdle(engine.clock)
    arm()

    await engine.deleteThread({ ...THREAD, visibility: EVERY_ROW })
    await untilIdle(engine.clock)

    expect(refused).toMatchObject([{ code: 'agent-busy' }])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await execute(engine)
    await untilIdle(engine.clock)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  })

  it('waits for an execution that is being stored, and aborts it', async () => {
    const deletions: Promise<unknown>[] = []
    const { engine, signals, arm } = createInterruptedEngine('run.insert', async (at) => {
      deletions.push(at.deleteThread({ ...THREAD, visibility: EVERY_ROW }))
      await untilIdle(at.clock)
    })
    await execute(engine)
    const { id: runId } = await engine.threads.newestRun(THREAD, EVERY_ROW)
    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await untilIdle(engine.clock)
    arm()

    await execute(engine)
    await Promise.all(deletions)
    await untilIdle(engine.clock)

    expect(deletions).toHaveLength(1)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    expect((await engine.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items).toEqual([])
  })
})
