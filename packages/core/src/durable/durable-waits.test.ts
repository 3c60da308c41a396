import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { settled } from '../engine/test-engine.fixture.ts'
import { type Code, never, processes, start } from './processes.fixture.ts'

describe('ctx.sleep', () => {
  it('suspends the run, holds no place, and goes on when it is time', async () => {
    const process = processes()
    const code: Code = async ({ sleep }) => {
      await sleep('nap', 60_000)
      return 'rested'
    }
    const engine = await process(code, { concurrency: 'single' })
    const runId = await start(engine)
    expect((await engine.find(runId))?.status).toBe('suspended')

    await engine.pass(59_999)
    expect((await engine.find(runId))?.status).toBe('suspended')
    await engine.pass(1)

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

  it('is settled at the next start when it fell due while no process ran', async () => {
    const process = processes()
    const code: Code = async ({ sleep }) => {
      await sleep('nap', 60_000)
      return 'rested'
    }
    const first = await process(code)
    const runId = await start(first)
    await first.drain(0)
    first.clock.advance(3_600_000)

    const second = await process(code)
    await second.pass(0)

    expect((await second.find(runId))?.status).toBe('completed')
  })

  it('lets a race go on while a step still executes', async () => {
    const process = processes()
    const engine = await process(async ({ step, sleep }) =>
      Promise.race([step('long', never), sleep('limit', 1_000).then(() => 'timed out')]),
    )
    const runId = await start(engine)
    expect((await engine.find(runId))?.status).toBe('running')

    await engine.pass(1_000)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '"timed out"' })
  })
})

describe('a wait of a run that has ended', () => {
  it('is closed when it falls due, and found no more', async () => {
    const process = processes()
    const engine = await process(async ({ sleep }) => sleep('nap', 60_000))
    const runId = await start(engine)
    await engine.abortRun({ runId, visibility: EVERY_ROW })

    await engine.pass(60_000)

    expect(await engine.storage.steps.due(engine.clock.now(), 10)).toEqual([])
    expect((await engine.storage.steps.list(runId)).map(({ status }) => status)).toEqual(['failed'])
    expect((await engine.find(runId))?.status).toBe('aborted')
  })

  it('is closed by the event it waited for, and wakes nothing', async () => {
    const process = processes()
    const engine = await process(async ({ waitForEvent }) => waitForEvent('go'))
    const runId = await start(engine)
    await engine.abortRun({ runId, visibility: EVERY_ROW })

    expect((await engine.emitEvent({ name: 'go' })).body).toMatchObject({ wokenRunIds: [], fireIds: [] })
    expect(await engine.storage.steps.waitingForEvent('go', 10)).toEqual([])
  })
})

describe('ctx.waitForEvent', () => {
  const code: Code = async ({ waitForEvent }) => waitForEvent('order.paid', { timeoutMs: 10_000 })

  it('goes on with the payload of the event', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await start(engine)

    const reply = await engine.emitEvent({ name: 'order.paid', payload: { amount: 3 } })
    await settled(engine.clock)

    expect(reply.body).toEqual({ name: 'order.paid', wokenRunIds: [runId], fireIds: [] })
    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '{"amount":3}' })
  })

  it('goes on with null when the event does not come in time, and only then', async () => {
    const process = processes()
    const engine = await process(code)
    const runId = await start(engine)

    await engine.pass(10_000)
    const late = await engine.emitEvent({ name: 'order.paid' })

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: 'null' })
    expect(late.body).toMatchObject({ wokenRunIds: [], fireIds: [] })
  })
})
