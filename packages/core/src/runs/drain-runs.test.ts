import { EVERY_ROW } from '@berth/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createEngine, gate, outcomeOf } from './engine.fixture.ts'

const never = () => new Promise<never>(() => undefined)

describe('releaseRuns', () => {
  it('takes nothing away from a run that ends at the same moment', async () => {
    const open = gate<string>()
    const engine = createEngine({ agents: [agentOf('task', () => open.promise, { recovery: 'resume' })] })
    const reply = engine.run('task')
    await engine.pass(0)

    open.resolve('done')
    await engine.release()
    await engine.pass(0)

    const { runId, status } = outcomeOf(await reply)
    expect((await engine.find(runId))?.status).toBe(status)
    expect(['completed', 'queued']).toContain(status)
  })

  it('does not bring back a run that was ended elsewhere', async () => {
    const engine = createEngine({ agents: [agentOf('task', never, { recovery: 'resume' })] })
    const { runId = '' } = await engine.run('task', { answer: 'accepted' })
    await engine.pass(0)
    await engine.storage.unitOfWork.commit([
      { type: 'run.transition', runId, from: ['running'], attempt: 1, change: { status: 'aborted' } },
    ])

    await engine.release()

    expect(await engine.find(runId)).toMatchObject({ status: 'aborted', attempt: 1 })
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toEqual(['run.started'])
  })

  it('does not wait for code that ignores its signal', async () => {
    const engine = createEngine({ agents: [agentOf('deaf', never)] })
    const { runId = '' } = await engine.run('deaf', { answer: 'accepted' })
    await engine.pass(0)

    await engine.release()

    expect(await engine.find(runId)).toMatchObject({ status: 'aborted', finishReason: 'shutdown' })
  })

  it('answers whoever waits for a run that is still queued, and leaves it to the next process', async () => {
    const engine = createEngine({ agents: [agentOf('task', never)], concurrency: 1 })
    await engine.run('task', { answer: 'accepted' })
    const waiting = engine.run('task')
    await engine.pass(0)

    const drained = engine.drain(0)
    await engine.pass(0)
    expect(await drained).toBe(false)
    await engine.release()

    const { runId, status } = outcomeOf(await waiting)
    expect(status).toBe('queued')
    expect((await engine.storage.runs.find(runId, EVERY_ROW))?.status).toBe('queued')
  })
})
