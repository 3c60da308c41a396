import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, type createTestEngine, gate, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { type Code, flowOf, never, processes, restarts, startFlow, waitFor } from './processes.fixture.ts'

type TestEngine = ReturnType<typeof createTestEngine>

const emit = async (engine: TestEngine, name: string) => {
  await engine.emitEvent({ name, payload: {}, caller: { principal: ALICE, runs: EVERY_ROW } })
  await untilIdle(engine.clock)
}

const stateOf = async (engine: TestEngine, runId: string) => {
  const run = await engine.find(runId)
  return [run?.status, run?.result]
}

const callsOf = async (engine: TestEngine, runId: string) =>
  (await engine.storage.steps.list(runId)).map(({ kind, name, result }) => `${kind} ${name} ${result}`)

const waitsOf = async (engine: TestEngine, runId: string) =>
  outcomeOf(await engine.readRuns.outcome(runId, EVERY_ROW)).waitingFor

describe('ctx.version', () => {
  it('takes the highest version in a new run, and records it', async () => {
    const engine = await processes()(({ version }) => version('mail', 1, 2))
    const runId = await startFlow(engine)

    expect(await stateOf(engine, runId)).toEqual(['completed', '2'])
    expect(await callsOf(engine, runId)).toEqual(['version mail 2'])
  })

  it('returns the recorded version after a restart with code that supports a higher one', async () => {
    const process = processes()
    const code =
      (max: number): Code =>
      async ({ version, waitForEvent }) => {
        const first = await version('mail', 1, max)
        await waitForEvent('go')
        return [first, await version('mail', 1, max)]
      }
    const runId = await startFlow(await process(code(2)))

    const second = await process(code(3))
    await emit(second, 'go')

    expect(await stateOf(second, runId)).toEqual(['completed', '[2,2]'])
  })

  it('takes the lowest version in a run that has passed this point, and keeps it when more calls are recorded', async () => {
    const process = processes()
    const entered: string[] = []
    const old: Code = async ({ step, waitForEvent }) => {
      await step('one', () => void entered.push('one'))
      await step('old', () => void entered.push('old'))
      await waitForEvent('go')
      await waitForEvent('again')
    }
    const changed: Code = async ({ step, waitForEvent, version }) => {
      await step('one', () => void entered.push('one'))
      const taken = await version('middle', 1, 2)
      await step(taken === 1 ? 'old' : 'new', () => void entered.push(`version ${taken}`))
      await waitForEvent('go')
      await waitForEvent('again')
      return [taken, await version('middle', 1, 2)]
    }
    const runId = await startFlow(await process(old))

    await emit(await process(changed), 'go')
    const third = await process(changed)
    await emit(third, 'again')

    expect(await stateOf(third, runId)).toEqual(['completed', '[1,1]'])
    expect(entered).toEqual(['one', 'old'])
  })

  it('takes the highest version in an old run that has not reached this point', async () => {
    const process = processes()
    const runId = await startFlow(await process(async ({ waitForEvent }) => waitForEvent('go')))

    const second = await process(async ({ waitForEvent, version, step }) => {
      await waitForEvent('go')
      return (await version('after', 1, 2)) === 2 ? step('new', () => 'new') : 'old'
    })
    await emit(second, 'go')

    expect(await stateOf(second, runId)).toEqual(['completed', '"new"'])
    expect(await callsOf(second, runId)).toEqual(['event go {}', 'version after 2', 'step new "new"'])
  })

  it('parks a run whose recorded version is outside the range, until code supports it again', async () => {
    const process = processes()
    const code =
      (min: number, max: number): Code =>
      async ({ version, waitForEvent }) => {
        const taken = await version('mail', min, max)
        await waitForEvent('go')
        return taken
      }
    const runId = await startFlow(await process(code(1, 2)))

    const second = await process(code(3, 4))
    await emit(second, 'go')
    expect(await waitsOf(second, runId)).toEqual([
      { kind: 'code', seq: 1, expected: 'version mail 2', found: 'version mail 3 to 4' },
    ])

    expect(await stateOf(await process(code(2, 4)), runId)).toEqual(['completed', '2'])
  })

  it('keeps the version that was recorded before ctx.suspend', async () => {
    const process = processes()
    const code =
      (max: number): Code =>
      async ({ version, suspend, resume }) => {
        const taken = await version('mail', 1, max)
        return resume === undefined ? suspend() : taken
      }
    const runId = await startFlow(await process(code(2)))

    const second = await process(code(3))
    const principal = ALICE
    await waitFor(second, second.resumeRun({ runId, visibility: EVERY_ROW, principal, payload: 1 }))

    expect(await stateOf(second, runId)).toEqual(['completed', '2'])
  })

  it.each([0, 1, 5, 20])('matches its record in parallel branches, with %i microtasks before it', async (count) => {
    const process = processes()
    const taken: number[] = []
    const hold = gate()
    const code: Code = async (context) => {
      const branch = async (name: string) => {
        await context.step(`${name}1`, () => 1)
        for (let n = 0; n < count; n++) await undefined
        taken.push(await context.version(name, 1, 7))
        await context.step(`${name}2`, () => 1)
      }
      await Promise.all([branch('x'), branch('y'), context.step('hold', () => hold.promise)])
      await context.waitForEvent('go')
      return 'same'
    }
    const first = await process(code)
    const runId = await startFlow(first)
    hold.resolve()
    await untilIdle(first.clock)

    const second = await process(code)
    await emit(second, 'go')

    expect(await stateOf(second, runId)).toEqual(['completed', '"same"'])
    expect(taken).toEqual([7, 7, 7, 7])
  })

  it('keeps the version after a crash in the step that follows', async () => {
    const process = processes()
    const seen: number[] = []
    const code =
      (max: number): Code =>
      async ({ version, step, attempt }) => {
        seen.push(await version('mail', 1, max))
        await step('send', () => (attempt === 1 ? never() : 'sent'))
      }
    const runId = await startFlow(await process(code(4)))

    const second = await process(code(5))

    expect([(await second.find(runId))?.status, seen]).toEqual(['completed', [4, 4]])
  })

  it.each([
    [2, 1],
    [0.5, 2],
    ['1', 2],
  ])('rejects the range %s to %s', async (min, max) => {
    const engine = await processes()(({ version }) => version('mail', min as number, max))
    const runId = await startFlow(engine)

    expect(await engine.find(runId)).toMatchObject({ status: 'failed', error: { code: 'validation-failed' } })
  })
})

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
    await expect(engine.execute('flow', { body: { version: '3' } })).rejects.toMatchObject({ id: 'version-unknown' })
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
})
