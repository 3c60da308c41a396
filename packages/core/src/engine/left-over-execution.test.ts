import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import { createTestEngine, gate, workflowOf } from './test-engine.fixture.ts'

/** A storage that suspends runs, but never answers the commits that do it. */
function withUnansweredSuspension(storage: Storage): Storage {
  const isSuspension = (type: string, change: object) => type === 'run.transition' && 'suspendedAt' in change
  return {
    ...storage,
    unitOfWork: {
      async commit(writes) {
        const outcome = await storage.unitOfWork.commit(writes)
        if (writes.some((write) => 'change' in write && isSuspension(write.type, write.change)))
          await new Promise(() => undefined)
        return outcome
      },
    },
  }
}

/** A run that one process has suspended without knowing it yet, and that another process has resumed. */
async function resumedElsewhere({ timeoutMs, afterMs = 0 }: { timeoutMs?: number; afterMs?: number } = {}) {
  const shared = { clock: createManualClock(), ids: createSequenceIds() }
  const stored = createInMemoryStorage()
  const storage = withUnansweredSuspension(stored)
  const contexts: RunContext[] = []
  const end = gate<string>()
  const code = workflowOf(
    'flow',
    async (_, context) => {
      contexts.push(context)
      await context.waitForEvent('go')
      return end.promise
    },
    { timeout: timeoutMs },
  )
  const first = createTestEngine({ ...shared, workflows: [code], storage })
  const second = createTestEngine({ ...shared, workflows: [code], storage: stored })
  const { runId = '' } = await first.execute('flow')
  await first.advance(afterMs)
  await second.emitEvent({ name: 'go', payload: 1 })
  await second.advance(0)
  expect(await second.find(runId)).toMatchObject({ status: 'running', attempt: 1, execution: 2 })
  const [leftOver, current] = contexts as [RunContext, RunContext]
  return { second, runId, leftOver, current, end: end.resolve }
}

describe('code that is left over from an execution whose run was resumed under the same attempt', () => {
  it('cannot emit an event, and the resumed execution can', async () => {
    const { second, runId, leftOver, current, end } = await resumedElsewhere()

    const late = leftOver.emit('left.over', {})
    await current.emit('in.time', {})

    await expect(late).rejects.toMatchObject({ code: 'run-not-active' })
    end('done')
    await second.advance(0)
    const types = (await second.eventsOf(runId)).map(({ type }) => type)
    expect(types).toContain('in.time')
    expect(types).not.toContain('left.over')
    expect(await second.find(runId)).toMatchObject({ status: 'completed', execution: 2 })
  })

  it('cannot record a call or take its sequence number', async () => {
    const { second, runId, leftOver, current, end } = await resumedElsewhere()

    await expect(leftOver.step('left over', () => 1)).rejects.toMatchObject({ code: 'run-not-active' })
    expect(await current.step('mine', () => 2)).toBe(2)

    expect((await second.storage.steps.list(runId)).map(({ name }) => name)).toEqual(['go', 'mine'])
    end('done')
    await second.advance(0)
  })

  it('cannot time the resumed execution out', async () => {
    const { second, runId, end } = await resumedElsewhere({ timeoutMs: 60_000, afterMs: 30_000 })

    await second.advance(59_999)

    expect(await second.find(runId)).toMatchObject({ status: 'running' })
    end('done')
    await second.advance(0)
    expect(await second.find(runId)).toMatchObject({ status: 'completed' })
  })
})
