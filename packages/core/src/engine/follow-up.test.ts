import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type RunFilter, type Storage } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, agentOf, createTestEngine, workflowOf } from './test-engine.fixture.ts'

/** In-memory storage that counts how often its approvals and its runs are listed. */
function countingStorage() {
  const storage = createInMemoryStorage()
  let lists = 0
  const counted =
    <Request extends unknown[], Result>(list: (...request: Request) => Result) =>
    (...request: Request) => {
      lists++
      return list(...request)
    }
  const counting: Storage = {
    ...storage,
    runs: { ...storage.runs, list: counted(storage.runs.list) },
    approvals: { ...storage.approvals, list: counted(storage.approvals.list) },
  }
  return { storage: counting, lists: () => lists }
}

describe('the end of a run', () => {
  it('lists neither children nor approvals of a run without durable calls', async () => {
    const { storage, lists } = countingStorage()
    const agent = { id: 'echo', run: async (input: unknown) => input }
    const { startRun } = createTestEngine({ storage, agents: [{ id: 'echo', description: 'Echo.', agent }] })

    const reply = await startRun({
      target: { kind: 'agent', id: 'echo' },
      ...{ body: { input: 1 }, principal: ALICE, answer: 'outcome' },
    })

    expect(reply.json).toContain('"status":"completed"')
    expect(lists()).toBe(0)
  })

  it('needs no follow-up for a workflow whose calls are all over', async () => {
    const { storage, lists } = countingStorage()
    const engine = createTestEngine({
      storage,
      workflows: [
        workflowOf('flow', async (_, { step, sleep }) => [await step('one', () => 1), await sleep('nap', 5)]),
      ],
    })
    const { runId = '' } = await engine.execute('flow')
    await engine.advance(0)
    await engine.advance(5)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed' })
    expect([await storage.runs.needingFollowUp(9), lists()]).toEqual([[], 0])
  })

  it('is followed up once its parent is awake, in the commit that wakes the parent', async () => {
    const { storage } = countingStorage()
    const commits: (readonly string[])[] = []
    const recording: Storage = {
      ...storage,
      unitOfWork: {
        commit(writes) {
          commits.push(writes.map(({ type }) => type))
          return storage.unitOfWork.commit(writes)
        },
      },
    }
    const engine = createTestEngine({
      storage: recording,
      agents: [agentOf('child', async () => 1)],
      workflows: [workflowOf('flow', async (_, { invoke }) => invoke('child', {}))],
    })
    const { runId = '' } = await engine.execute('flow')
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '1' })
    expect(commits.filter((types) => types.includes('run.followed-up'))).toEqual([
      expect.arrayContaining(['run.followed-up', 'step.change']),
    ])
    expect(await storage.runs.needingFollowUp(9)).toEqual([])
  })

  it('is followed up by the next start after a crash, which reads no other run', async () => {
    const storage = createInMemoryStorage()
    const parts = { workflows: [workflowOf('flow', async (_, { waitForEvent }) => waitForEvent('go'))] }
    const first = createTestEngine({ ...parts, storage })
    const { runId: parentRunId } = await first.execute('flow')
    await first.execute('flow')
    await first.advance(0)
    const orphan = aRun({ id: 'orphan', status: 'suspended', parentRunId })
    await storage.unitOfWork.commit([{ type: 'run.insert', run: orphan }])
    const end = { type: 'run.transition', runId: parentRunId ?? '', from: ['suspended'], attempt: 1 } as const
    await storage.unitOfWork.commit([{ ...end, change: { status: 'aborted' }, needsFollowUp: true }])

    const listed: RunFilter[] = []
    const list: Storage['runs']['list'] = (filter, page, visibility) => {
      listed.push(filter)
      return storage.runs.list(filter, page, visibility)
    }
    await createTestEngine({ ...parts, storage: { ...storage, runs: { ...storage.runs, list } } }).recover()

    expect(await first.find('orphan')).toMatchObject({ status: 'aborted' })
    expect(await storage.runs.needingFollowUp(9)).toEqual([])
    const ofParents = [parentRunId, 'orphan'].map((id) => expect.objectContaining({ parentRunId: id }))
    expect(listed).toEqual(expect.arrayContaining([{ statuses: ['running'] }, ...ofParents]))
    expect(
      listed.filter(({ parentRunId, statuses }) => parentRunId === undefined && statuses?.[0] !== 'running'),
    ).toEqual([])
  })

  it('expires the approvals that the run left open', async () => {
    const { storage, lists } = countingStorage()
    const execute = async (_: unknown, ctx: { approval(name: string): Promise<unknown> }) => {
      ctx.approval('pay').catch(() => undefined)
      await new Promise((resolve) => setImmediate(resolve))
      throw new Error('no money')
    }
    const workflow = { id: 'pay', execute: execute as never }
    const { startRun } = createTestEngine({ storage, workflows: [{ id: 'pay', description: 'Pays.', workflow }] })

    await startRun({
      target: { kind: 'workflow', id: 'pay' },
      ...{ body: {}, principal: ALICE, answer: 'outcome' },
    })

    expect(lists()).toBeGreaterThan(0)
    await expect
      .poll(async () => (await storage.approvals.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items)
      .toEqual([expect.objectContaining({ name: 'pay', status: 'expired' })])
  })
})
