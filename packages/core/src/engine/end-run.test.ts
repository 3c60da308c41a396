import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine } from './test-engine.fixture.ts'

describe('the end of a run whose session was deleted', () => {
  it('stores the result without the transcript', async () => {
    const storage = createInMemoryStorage()
    const run = aRun({ id: 'run_1', targetId: 'task', sessionId: 'gone' })
    await storage.unitOfWork.commit([{ type: 'run.insert', run }])
    const engine = createTestEngine({ agents: [agentOf('task', async () => 'done')], storage })

    await engine.start()
    await engine.advance(0)

    expect(await engine.find('run_1')).toMatchObject({ status: 'completed', result: '"done"' })
    expect((await storage.sessions.messages('gone', { limit: 9, order: 'asc' })).items).toEqual([])
  })

  it('does not overwrite an abort that was stored meanwhile', async () => {
    const storage = createInMemoryStorage()
    const { commit } = storage.unitOfWork
    await commit([{ type: 'run.insert', run: aRun({ id: 'run_1', targetId: 'task', sessionId: 'gone' }) }])
    const unitOfWork: Storage['unitOfWork'] = {
      async commit(writes) {
        const outcome = await commit(writes)
        if (!outcome.committed && outcome.conflict.type === 'message.append') {
          const change = { status: 'aborted', finishReason: 'aborted' } as const
          await commit([{ type: 'run.transition', runId: 'run_1', from: ['running'], attempt: 1, change }])
        }
        return outcome
      },
    }
    const agents = [agentOf('task', async () => 'done')]
    const engine = createTestEngine({ agents, storage: { ...storage, unitOfWork } })

    await engine.start()
    await engine.advance(0)

    expect(await engine.find('run_1')).toMatchObject({ status: 'aborted' })
    expect((await engine.find('run_1'))?.result).toBeUndefined()
  })
})
