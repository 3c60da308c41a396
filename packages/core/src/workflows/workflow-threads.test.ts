import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createTestEngine, outcomeOf, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'

const waiting = workflowOf('flow', async (_, { step, waitForEvent }) => {
  await step('one', () => 1)
  await step('two', () => 2)
  await waitForEvent('go', {})
})

async function executeFlow() {
  const engine = createTestEngine({ workflows: [waiting] })
  await engine.start()
  const { runId, threadId = '' } = outcomeOf(await engine.execute('flow'))
  await untilIdle(engine.clock)
  return { engine, runId, thread: { workflowId: 'flow', threadId } }
}

describe('WorkflowThreads.state', () => {
  it('lists what the thread waits for, until its run ends', async () => {
    const { engine, runId, thread } = await executeFlow()
    const before = await engine.threads.state(thread)

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    const after = await engine.threads.state(thread)

    expect(before).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'event', name: 'go' }] })
    expect(after).toMatchObject({ status: 'aborted', waitingFor: [] })
  })
})

describe('WorkflowThreads.checkpoints', () => {
  it('returns pages in both orders', async () => {
    const { engine, thread } = await executeFlow()

    for (const [order, names] of [
      ['asc', ['one', 'two']],
      ['desc', ['two', 'one']],
    ] as const) {
      const first = await engine.threads.checkpoints(thread, { limit: 1, order })
      const second = await engine.threads.checkpoints(thread, { limit: 1, order, cursor: first.nextCursor ?? '' })
      expect([...first.items, ...second.items].map(({ step }) => step)).toEqual(names)
      expect(second.nextCursor).toBeNull()
    }
  })

  it.each(['', 'nonsense', '1.5', '-1', '1e0'])('rejects the invalid cursor %j', async (cursor) => {
    const { engine, thread } = await executeFlow()

    const page = engine.threads.checkpoints(thread, { limit: 1, order: 'asc', cursor })

    await expect(page).rejects.toMatchObject({ id: 'validation-failed' })
  })
})
