import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, createTestEngine } from './test-engine.fixture.ts'

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
