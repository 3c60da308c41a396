import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

const decider = (subject: string) => ({ by: subject, visibility: EVERY_ROW, approved: true }) as const

/** A run that waits for two approvals, and two processes that share its storage. */
async function twoProcesses() {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const code = async (_: unknown, { suspend, resume }: RunContext) =>
    resume === undefined
      ? suspend({ approvals: [{ name: 'first' }, { name: 'second' }] })
      : resume.approvals.map(({ approved }) => approved)
  const start = () => createTestEngine({ ...shared, agents: [agentOf('asks', code, { onCrash: 'retry' })] })
  const [one, other] = [start(), start()]
  const reply = one.run('asks')
  await untilIdle(shared.clock)
  const { runId, approvals = [] } = outcomeOf(await reply)
  const [first = '', second = ''] = approvals.map(({ id }) => id)
  return { one, other, runId, first, second, ...shared }
}

describe('two decisions on one run at the same time', () => {
  it('resume the run once, in different processes too', async () => {
    const { one, other, runId, first, second, storage, clock } = await twoProcesses()

    const decisions = Promise.all([
      one.resolveApproval({ approvalId: first, ...decider('alice') }),
      other.resolveApproval({ approvalId: second, ...decider('bob') }),
    ])
    await untilIdle(clock)

    expect((await decisions).map(({ status }) => status)).toEqual([200, 200])
    expect(await one.find(runId)).toMatchObject({ status: 'completed', result: '[true,true]' })
    const events = await storage.events.read({ runId }, { after: 0, limit: 99 })
    expect(events.filter(({ type }) => type === 'run.resumed')).toHaveLength(1)
  })
})
