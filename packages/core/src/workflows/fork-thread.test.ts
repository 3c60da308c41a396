import { createInMemoryStorage } from '@perdure/in-memory'
import { type Storage, toJsonText, type Write } from '@perdure/ports'
import { aRun, aStep } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { createTestEngine, workflowOf } from '../engine/test-engine.fixture.ts'

const LONG = 'x'.repeat(10_000)
const RESULT = toJsonText(LONG)
const THREAD = { workflowId: 'flow', threadId: 'thread_source' }

/** Records the commits, and the reads of calls with their results. */
function observed(storage: Storage) {
  const commits: (readonly Write[])[] = []
  let reads = 0
  const steps: Storage['steps'] = {
    ...storage.steps,
    async find(runId, seq) {
      const step = await storage.steps.find(runId, seq)
      if (step?.result !== undefined) reads++
      return step
    },
    read: (runId, range) => {
      reads++
      return storage.steps.read(runId, range)
    },
  }
  const unitOfWork: Storage['unitOfWork'] = {
    commit: (writes) => {
      commits.push(writes)
      return storage.unitOfWork.commit(writes)
    },
  }
  return { storage: { ...storage, steps, unitOfWork }, commits, reads: () => reads }
}

it('copies calls in their order of ending, without reading their results', async () => {
  const { storage, commits, reads } = observed(createInMemoryStorage())
  const run = aRun({ id: 'run_source', ...{ kind: 'workflow', targetId: 'flow', threadId: THREAD.threadId } })
  const call = (seq: number, over: Parameters<typeof aStep>[0]) => ({
    type: 'step.insert' as const,
    step: aStep({ runId: run.id, seq, name: `call-${seq}`, ...over }),
  })
  await storage.unitOfWork.commit([
    { type: 'run.insert', run: { ...run, status: 'completed' } },
    call(1, { status: 'completed', endOrder: 5, result: RESULT }),
    call(2, { kind: 'approval', status: 'completed', endOrder: 3 }),
    call(3, { status: 'failed', endOrder: 2, error: { code: 'no-luck', message: 'no luck' } }),
    call(4, { status: 'completed', endOrder: 4, result: RESULT }),
    call(5, { status: 'started' }),
  ])
  commits.length = 0
  const engine = createTestEngine({ workflows: [workflowOf('flow', async () => 'done')], storage })

  const fork = await engine.forkThread({ ...THREAD, throughSeq: 4 })

  expect(reads()).toBe(0)
  expect(JSON.stringify(commits)).not.toContain(LONG)
  const copies = (await storage.steps.list(fork.id)).map(({ seq, status, endOrder, result, error }) => {
    return { seq, status, endOrder, result, error: error?.code }
  })
  expect(copies).toEqual([
    { seq: 1, status: 'completed', endOrder: 3, result: RESULT },
    { seq: 2, status: 'started' },
    { seq: 3, status: 'failed', endOrder: 1, error: 'no-luck' },
    { seq: 4, status: 'completed', endOrder: 2, result: RESULT },
  ])
})
