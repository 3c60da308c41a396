import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type UnitOfWork, type Write } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'

const THREAD = { workflowId: 'flow', threadId: 'thr_1' }
const body = { threadId: THREAD.threadId }

const ENDLESS = workflowOf('flow', () => new Promise(() => undefined))

const isAbort = (write: Write) => write.type === 'run.transition' && write.change.status === 'aborted'

/** Two processes with one storage; runs end only when they are aborted. */
function twoProcesses() {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const workflows = [ENDLESS]
  return {
    one: createTestEngine({ ...shared, workflows }),
    other: createTestEngine({ ...shared, workflows }),
    ...shared,
  }
}

describe('a thread that two processes use', () => {
  it('gets one run when both start one at the same time', async () => {
    const { one, other, storage, clock } = twoProcesses()

    const starts = await Promise.allSettled([one.execute('flow', { body }), other.execute('flow', { body })])
    await untilIdle(clock)

    expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(starts.flatMap((start) => (start.status === 'rejected' ? [start.reason.code] : []))).toEqual(['agent-busy'])
    expect((await storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items).toHaveLength(1)
  })

  it('is deleted with the run that the other process starts just before the deletion is committed', async () => {
    const { storage, clock, ids, other } = twoProcesses()
    let starts = 0
    let aborted = 0
    const commit: UnitOfWork['commit'] = async (writes) => {
      if (starts === 0 && writes.some(({ type }) => type === 'thread.delete')) {
        starts += 1
        await other.execute('flow', { body })
      }
      const outcome = await storage.unitOfWork.commit(writes)
      if (outcome.committed) for (const write of writes) if (isAbort(write)) aborted += 1
      return outcome
    }
    const one = createTestEngine({ storage: { ...storage, unitOfWork: { commit } }, clock, ids, workflows: [ENDLESS] })
    await one.execute('flow', { body })
    await untilIdle(clock)

    const reply = await one.deleteThread({ ...THREAD, visibility: EVERY_ROW })

    expect([reply.status, starts, aborted]).toEqual([204, 1, 2])
    expect((await storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items).toEqual([])
  })
})
