import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { AgentRegistration } from '../targets/agent.ts'
import type { WorkflowRegistration } from '../targets/workflow.ts'
import { agentOf, createTestEngine, gate, outcomeOf, workflowOf } from './test-engine.fixture.ts'

const ROUND_MS = 2_000

/** Two processes on one storage. */
function twoProcesses(registered: {
  readonly agents?: readonly AgentRegistration[]
  readonly workflows?: readonly WorkflowRegistration[]
}) {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const start = () => createTestEngine({ ...registered, ...shared, isStorageShared: true })
  return { mine: start(), other: start(), ...shared }
}

/** The only run of a target, as a request names it. */
const onlyRunOf = async ({ storage }: Pick<ReturnType<typeof twoProcesses>, 'storage'>, targetId: string) => {
  const { items } = await storage.runs.list({ targetId }, { limit: 2, order: 'asc' }, EVERY_ROW)
  expect(items).toHaveLength(1)
  return { runId: items[0]?.id ?? '', visibility: EVERY_ROW } as const
}

describe('a caller that waits for a run', () => {
  it('gets the outcome from another process when the code of the run returns too late', async () => {
    const open = gate<string>()
    const { mine, other, storage } = twoProcesses({ agents: [agentOf('slow', () => open.promise)] })
    const reply = mine.run('slow')
    await mine.advance(0)

    await other.abortRun(await onlyRunOf({ storage }, 'slow'))
    open.resolve('too late')

    expect(outcomeOf(await reply)).toMatchObject({ status: 'aborted' })
  })

  it('gets the outcome from another process while the code of the run still executes, and the code is aborted', async () => {
    const signals: AbortSignal[] = []
    const { mine, other, storage } = twoProcesses({
      agents: [
        agentOf('stuck', (_, { signal }) => {
          signals.push(signal)
          return new Promise(() => undefined)
        }),
      ],
    })
    await mine.start()
    const reply = mine.run('stuck')
    await mine.advance(0)

    await other.abortRun(await onlyRunOf({ storage }, 'stuck'))
    await mine.advance(ROUND_MS)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'aborted' })
    await mine.advance(ROUND_MS)
    expect(signals.map(({ aborted, reason }) => [aborted, reason])).toEqual([[true, 'aborted']])
  })

  it('gets the result of the process that took the run over', async () => {
    const gates = [gate<string>(), gate<string>()]
    let executions = 0
    const { mine, other } = twoProcesses({
      agents: [agentOf('slow', async () => gates[executions++]?.promise, { onCrash: 'retry' })],
    })
    await mine.start()
    const reply = mine.run('slow')
    await mine.advance(0)

    await other.recover()
    await other.start()
    await other.advance(0)
    gates[0]?.resolve('from the first process')
    await mine.advance(ROUND_MS)
    gates[1]?.resolve('from the second process')
    await other.advance(0)
    await mine.advance(ROUND_MS)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'from the second process' })
  })

  it('is told what a run waits for that another process has taken over and suspended', async () => {
    const open = gate()
    let executions = 0
    const { mine, other } = twoProcesses({
      agents: [
        agentOf(
          'asks',
          async (_, { approval }) => (executions++ === 0 ? open.promise : approval('deploy', { title: 'Deploy?' })),
          { onCrash: 'retry' },
        ),
      ],
    })
    await mine.start()
    const reply = mine.run('asks')
    await mine.advance(0)

    await other.recover()
    await other.start()
    await other.advance(0)
    open.resolve()
    await mine.advance(ROUND_MS)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'suspended', approvals: [{ name: 'deploy' }] })
  })

  it('is rejected when another process has deleted the run', async () => {
    const { mine, other, storage } = twoProcesses({
      workflows: [workflowOf('flow', () => new Promise(() => undefined))],
    })
    await mine.start()
    const reply = mine.execute('flow', { answer: 'outcome' }).catch((error: unknown) => error)
    await mine.advance(0)
    const { threadId = '' } = (await mine.find((await onlyRunOf({ storage }, 'flow')).runId)) ?? {}

    await other.deleteThread({ workflowId: 'flow', threadId, visibility: EVERY_ROW })
    await mine.advance(ROUND_MS)

    expect(await reply).toMatchObject({ code: 'run-not-found' })
  })
})

describe('code that waits while another branch of it executes', () => {
  it('continues when another process aborts the child run that it waits for', async () => {
    const seen: string[] = []
    const { mine, other, storage } = twoProcesses({
      agents: [agentOf('child', () => new Promise(() => undefined))],
      workflows: [
        workflowOf('parent', async (_, { invoke }) => {
          const child = invoke('child', {}).catch((error: unknown) => seen.push(String(error)))
          await Promise.all([child, new Promise(() => undefined)])
        }),
      ],
    })
    await mine.start()
    await mine.execute('parent')
    await mine.advance(0)

    await other.abortRun(await onlyRunOf({ storage }, 'child'))
    await other.advance(0)
    await mine.advance(ROUND_MS)

    expect(seen).toEqual([expect.stringContaining('the agent child aborted')])
  })

  it('continues when another process emits the event that it waits for', async () => {
    const seen: unknown[] = []
    const { mine, other } = twoProcesses({
      workflows: [
        workflowOf('flow', async (_, { waitForEvent }) => {
          const paid = waitForEvent('paid').then((event) => seen.push(event))
          await Promise.all([paid, new Promise(() => undefined)])
        }),
      ],
    })
    await mine.start()
    await mine.execute('flow')
    await mine.advance(0)

    await other.emitEvent({ name: 'paid', payload: { amount: 7 } })
    await mine.advance(ROUND_MS)

    expect(seen).toHaveLength(1)
  })
})
