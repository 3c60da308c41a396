import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'

const keyOf = (id: string) => ({ id, fingerprint: 'same' })

const WORKFLOWS = {
  'waits for an event': workflowOf('flow', async (_, { waitForEvent }) => [
    await waitForEvent('go'),
    await waitForEvent('go'),
  ]),
  'called ctx.suspend': workflowOf('flow', async (_, { suspend, resume }) =>
    resume === undefined ? suspend() : suspend({ state: resume.payload }),
  ),
}

describe.each(Object.entries(WORKFLOWS))('resume of a thread that %s', (_, workflow) => {
  const start = async () => {
    const engine = createTestEngine({ workflows: [workflow] })
    const { runId = '' } = await engine.execute('flow', { body: { threadId: 'thr_1' } })
    await untilIdle(engine.clock)
    const resume = (key: string, payload: unknown = 1) =>
      engine.resumeWorkflow({ workflowId: 'flow', threadId: 'thr_1', payload, visibility: EVERY_ROW, key: keyOf(key) })
    const resumedTimes = async () => {
      await untilIdle(engine.clock)
      const events = await engine.storage.events.read({ runId }, { after: 0, limit: 99 })
      return events.filter(({ type }) => type === 'run.resumed').length
    }
    return { engine, runId, resume, resumedTimes }
  }

  it('takes effect once for concurrent requests with one key, and gives each the same answer', async () => {
    const { resume, resumedTimes, runId } = await start()

    const replies = await Promise.all(Array.from({ length: 5 }, () => resume('k')))

    expect(replies.map(({ status, runId: id, replayed = false }) => [status, id ?? runId, replayed])).toEqual([
      [202, runId, false],
      ...Array.from({ length: 4 }, () => [202, runId, true]),
    ])
    expect(await resumedTimes()).toBe(1)
  })

  it('succeeds for exactly one of several concurrent requests with different keys', async () => {
    const { resume, resumedTimes, engine, runId } = await start()

    const replies = await Promise.allSettled(['a', 'b', 'c', 'd'].map((key) => resume(key, key)))

    expect(replies.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.code)).sort()).toEqual([
      202,
      'resume-without-suspension',
      'resume-without-suspension',
      'resume-without-suspension',
    ])
    expect(await resumedTimes()).toBe(1)
    expect(await engine.storage.runs.find(runId, EVERY_ROW)).toMatchObject({ status: 'suspended' })
  })
})
