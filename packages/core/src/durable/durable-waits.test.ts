import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { untilIdle } from '../engine/test-engine.fixture.ts'
import { type Code, never, processes, startFlow } from './processes.fixture.ts'

describe('ctx.sleep', () => {
  it('suspends the run, which then holds no slot, and resumes it on time', async () => {
    const process = processes()
    const code: Code = async ({ sleep }) => {
      await sleep('nap', 60_000)
      return 'rested'
    }
    const engine = await process(code, { concurrency: 'single' })
    const runId = await startFlow(engine)
    expect((await engine.find(runId))?.status).toBe('suspended')

    await engine.advance(59_999)
    expect((await engine.find(runId))?.status).toBe('suspended')
    await engine.advance(1)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '"rested"', attempt: 1 })
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toEqual([
      'run.started',
      'step.start',
      'run.suspended',
      'step.end',
      'checkpoint.written',
      'run.resumed',
      'run.started',
      'run.completed',
    ])
  })

  it('completes at the next start if it became due while no process ran', async () => {
    const process = processes()
    const code: Code = async ({ sleep }) => {
      await sleep('nap', 60_000)
      return 'rested'
    }
    const first = await process(code)
    const runId = await startFlow(first)
    await first.drain(0)
    first.clock.advance(3_600_000)

    const second = await process(code)
    await second.advance(0)

    expect((await second.find(runId))?.status).toBe('completed')
  })

  it('wins a race against a step that is still executing', async () => {
    const process = processes()
    const engine = await process(async ({ step, sleep }) =>
      Promise.race([step('long', never), sleep('limit', 1_000).then(() => 'timed out')]),
    )
    const runId = await startFlow(engine)
    expect((await engine.find(runId))?.status).toBe('running')

    await engine.advance(1_000)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '"timed out"' })
  })
})

describe('a wait of a run that has ended', () => {
  it('is closed when it becomes due, and is no longer listed as due', async () => {
    const process = processes()
    const engine = await process(async ({ sleep }) => sleep('nap', 60_000))
    const runId = await startFlow(engine)
    await engine.abortRun({ runId, visibility: EVERY_ROW })

    await engine.advance(60_000)

    expect(await engine.storage.steps.due(engine.clock.now(), 10)).toEqual([])
    expect((await engine.storage.steps.list(runId)).map(({ status }) => status)).toEqual(['failed'])
    expect((await engine.find(runId))?.status).toBe('aborted')
  })

  it('is closed by its event, which wakes no run', async () => {
    const process = processes()
    const engine = await process(async ({ waitForEvent }) => waitForEvent('go'))
    const runId = await startFlow(engine)
    await engine.abortRun({ runId, visibility: EVERY_ROW })

    expect((await engine.emitEvent({ name: 'go' })).body).toMatchObject({ wokenRunIds: [], fireIds: [] })
    expect(await engine.storage.steps.waitingForEvent('go', { limit: 10 })).toEqual([])
  })
})

describe('ctx.waitForEvent', () => {
  const code: Code = async ({ waitForEvent }) => waitForEvent('order.paid', { timeout: 10_000 })

  it('returns the payload of the event', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await startFlow(engine)

    const reply = await engine.emitEvent({ name: 'order.paid', payload: { amount: 3 } })
    await untilIdle(engine.clock)

    expect(reply.body).toEqual({ name: 'order.paid', wokenRunIds: [runId], fireIds: [] })
    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '{"amount":3}' })
  })

  it('returns null after its timeout, and a later event wakes no run', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await startFlow(engine)

    await engine.advance(10_000)
    const late = await engine.emitEvent({ name: 'order.paid' })

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: 'null' })
    expect(late.body).toMatchObject({ wokenRunIds: [], fireIds: [] })
  })
})
