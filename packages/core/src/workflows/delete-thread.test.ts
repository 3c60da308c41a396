import { EVERY_ROW } from '@berth/ports'
import { aRun } from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import { createEngine, settled, workflowOf } from '../runs/engine.fixture.ts'

describe('deleteThread', () => {
  it('aborts every run of the thread that has not ended, not only the newest, and leaves other threads alone', async () => {
    const signals: AbortSignal[] = []
    const deaf = workflowOf('flow', async (_, { signal }) => {
      signals.push(signal)
      await new Promise(() => undefined)
    })
    const engine = createEngine({ workflows: [deaf] })
    const of = (id: string, threadId: string) =>
      aRun({ id, kind: 'workflow', targetId: 'flow', threadId, status: 'queued', createdAt: engine.clock.now() })
    const runs = [of('run_1', 'thr_1'), of('run_2', 'thr_1'), of('run_3', 'thr_2')]
    await engine.storage.unitOfWork.commit(runs.map((run) => ({ type: 'run.insert', run }) as const))
    await engine.start()
    await settled(engine.clock)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false])

    await engine.deleteThread({ workflowId: 'flow', threadId: 'thr_1' })
    await settled(engine.clock)

    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false])
    const { items } = await engine.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ id, status }) => [id, status])).toEqual([['run_3', 'running']])
  })
})
