import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, type createTestEngine, gate, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import { type Code, never, processes, startFlow, waitFor } from './processes.fixture.ts'

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

  it('still returns min after ctx.suspend if it returned min without a record before', async () => {
    const process = processes()
    const code =
      (isVersioned: boolean): Code =>
      async ({ version, waitForEvent, step, suspend, resume }) => {
        const taken = isVersioned ? await version('mail', 1, 2) : 'none'
        if (resume !== undefined) return [resume.state, taken]
        await waitForEvent('go')
        await step('last', () => 1)
        return suspend({ state: taken })
      }
    const runId = await startFlow(await process(code(false)))

    const second = await process(code(true))
    await emit(second, 'go')
    const third = await process(code(true))
    await waitFor(third, third.resumeRun({ runId, visibility: EVERY_ROW, principal: ALICE, payload: 1 }))

    expect(await stateOf(third, runId)).toEqual(['completed', '[1,1]'])
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
