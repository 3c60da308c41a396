import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, type createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { type Code, flowOf, never, restarts, startFlow, waitFor } from './processes.fixture.ts'

type TestEngine = ReturnType<typeof createTestEngine>

const emit = async (engine: TestEngine, name: string) => {
  await engine.emitEvent({ name, payload: {}, caller: { principal: ALICE, runs: EVERY_ROW } })
  await untilIdle(engine.clock)
}

const stateOf = async (engine: TestEngine, runId: string) => {
  const run = await engine.find(runId)
  return [run?.status, run?.result]
}

const waitsOf = async (engine: TestEngine, runId: string) =>
  outcomeOf(await engine.readRuns.outcome(runId, EVERY_ROW)).waitingFor

describe('versions of a registration', () => {
  const code =
    (answer: string): Code =>
    async ({ waitForEvent, step }: RunContext) => {
      await step(answer, () => 1)
      await waitForEvent('go')
      return answer
    }
  const one = flowOf(code('one'), { version: '1' })
  const two = flowOf(code('two'), { version: '2' })
  const unversioned = flowOf(code('plain'))

  it('starts the first registered version, or the version that the request names', async () => {
    const engine = await restarts()([two, one])
    const byDefault = (await engine.execute('flow')).runId ?? ''
    const byName = (await engine.execute('flow', { body: { version: '1' } })).runId ?? ''
    await untilIdle(engine.clock)
    await emit(engine, 'go')

    expect(await stateOf(engine, byDefault)).toEqual(['completed', '"two"'])
    expect(await stateOf(engine, byName)).toEqual(['completed', '"one"'])
    expect((await engine.find(byDefault))?.version).toBe('2')
    await expect(engine.execute('flow', { body: { version: '3' } })).rejects.toMatchObject({ code: 'version-unknown' })
    expect(engine.readWorkflows.get('flow')).toMatchObject({ versions: ['2', '1'] })
  })

  it('keeps the version of a run when the default changes', async () => {
    const boot = restarts()
    const runId = await startFlow(await boot([one]))

    const second = await boot([two, one])
    await emit(second, 'go')

    expect(await stateOf(second, runId)).toEqual(['completed', '"one"'])
  })

  it('parks a run whose version is not registered, and continues it once the version is registered', async () => {
    const boot = restarts()
    const runId = await startFlow(await boot([one]))

    const second = await boot([two])
    await emit(second, 'go')
    expect(await waitsOf(second, runId)).toEqual([{ kind: 'code', version: '1' }])
    expect((await second.eventsOf(runId)).at(-1)).toMatchObject({ type: 'run.suspended' })
    const before = (await second.eventsOf(runId)).length
    expect((await (await boot([two])).eventsOf(runId)).length).toBe(before)

    const third = await boot([two, one])
    expect(await stateOf(third, runId)).toEqual(['completed', '"one"'])
  })

  it('parks a run that a crash interrupted when its version is not registered', async () => {
    const boot = restarts()
    const crashing = flowOf(async ({ step, attempt }) => step('x', () => (attempt === 1 ? never() : 'x')), {
      version: '1',
    })
    const runId = await startFlow(await boot([crashing]))

    expect(await waitsOf(await boot([two]), runId)).toEqual([{ kind: 'code', version: '1' }])
    expect(await stateOf(await boot([two, crashing]), runId)).toEqual(['completed', '"x"'])
  })

  it('answers a resume request for a run whose version is not registered', async () => {
    const boot = restarts()
    const runId = await startFlow(await boot([one]))
    const second = await boot([two])
    await emit(second, 'go')

    const resumed = second.resumeRun({ runId, visibility: EVERY_ROW, principal: ALICE })

    expect(outcomeOf(await waitFor(second, resumed))).toMatchObject({
      status: 'suspended',
      waitingFor: [{ kind: 'code', version: '1' }],
    })
  })

  it.each([
    ['the registration without a version', [two, unversioned]],
    ['the default', [flowOf(code('plain'), { version: '2' })]],
  ])('executes a run without a version with %s', async (_, registered) => {
    const boot = restarts()
    const runId = await startFlow(await boot([unversioned]))

    const second = await boot(registered)
    await emit(second, 'go')

    expect(await stateOf(second, runId)).toEqual(['completed', '"plain"'])
  })

  it('does not give the default version to a fork of a run without a version', async () => {
    const boot = restarts()
    const code: Code = async ({ approval }) => (await approval('pay')).approved
    const changed: Code = async ({ step, approval }) => {
      await step('check', () => 1)
      return (await approval('pay')).approved
    }
    const source = await startFlow(await boot([flowOf(code)]))
    const second = await boot([flowOf(changed, { version: 'b' })])
    const request = { runId: source, from: 'failure', action: 'runs.retry', principal: ALICE } as const
    const { runId } = outcomeOf(await second.forkRun({ ...request, visibility: EVERY_ROW }))
    await untilIdle(second.clock)

    const third = await boot([flowOf(changed, { version: 'b' }), flowOf(code)])
    await untilIdle(third.clock)
    const [asked] = (await third.readApprovals.list({ runId }, { limit: 1, order: 'asc' }, EVERY_ROW)).items
    await third.resolveApproval({ approvalId: asked?.id ?? '', approved: true, by: 'bob', visibility: EVERY_ROW })
    await untilIdle(third.clock)

    expect(await third.find(runId)).toMatchObject({ status: 'completed', result: 'true', version: undefined })
  })
})
