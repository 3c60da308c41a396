import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import {
  answersOf,
  boot,
  callerOf,
  codeOf,
  isWaiting,
  KEY,
  onlyApproval,
  settle,
  statusOf,
  twice,
} from './await-children.fixture.ts'
import { gate, outcomeOf } from './test-engine.fixture.ts'

describe('a caller of a run that waits for working children', () => {
  it('gets the result of the run, whether its child is fast or slow', async () => {
    const open = gate<string>()
    const engine = await boot([
      codeOf('fast', () => 'done'),
      codeOf('slow', () => open.promise),
      callerOf('of-fast', 'fast'),
      callerOf('of-slow', 'slow'),
    ])
    const fast = engine.run('of-fast')
    const slow = engine.run('of-slow', { key: KEY })
    await settle(engine)
    expect(await isWaiting(slow)).toBe(true)
    await expect(engine.recall(KEY)).rejects.toMatchObject({ code: 'idempotency-in-flight' })

    open.resolve('done')
    await settle(engine)

    expect(outcomeOf(await fast)).toMatchObject({ status: 'completed', result: 'done' })
    expect(outcomeOf(await slow)).toMatchObject({ status: 'completed', result: 'done' })
    expect(await answersOf(engine, slow)).toEqual(twice(200, 'completed'))
  })

  it('gets the result of a run whose grandchild is slow', async () => {
    const open = gate<string>()
    const engine = await boot([
      codeOf('slow', () => open.promise),
      callerOf('middle', 'slow'),
      callerOf('top', 'middle'),
    ])
    const reply = engine.run('top', { key: KEY })
    await settle(engine)
    expect(await isWaiting(reply)).toBe(true)

    open.resolve('done')
    await settle(engine)

    expect(await answersOf(engine, reply)).toEqual(twice(200, 'completed'))
  })

  it('gets the result of a run with several children that end at different times', async () => {
    const [one, other] = [gate<number>(), gate<number>()]
    const engine = await boot([
      codeOf('one', () => one.promise),
      codeOf('other', () => other.promise),
      codeOf('both', ({ invoke }) => Promise.all([invoke('one', {}), invoke('other', {})])),
    ])
    const reply = engine.run('both')
    await settle(engine)
    one.resolve(1)
    await settle(engine)
    expect(await isWaiting(reply)).toBe(true)
    other.resolve(2)
    await settle(engine)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: [1, 2] })
  })

  it('gets the result of a run whose child is retried, or retries one of its steps', async () => {
    let failures = 0
    const failTwice = () => {
      if (++failures % 3 !== 0) throw new Error('not yet')
      return 'done'
    }
    const retries = { max: 2, delay: 1_000, jitter: 'none' } as const
    const engine = await boot([
      codeOf('flaky', failTwice, { retries }),
      codeOf('flaky-step', ({ step }) => step('work', failTwice, { retries })),
      callerOf('of-flaky', 'flaky'),
      callerOf('of-flaky-step', 'flaky-step'),
    ])
    for (const id of ['of-flaky', 'of-flaky-step']) {
      const reply = engine.run(id)
      await settle(engine)
      expect(await isWaiting(reply), id).toBe(true)
      for (const delayMs of [1_000, 2_000]) {
        await engine.advance(delayMs)
        await settle(engine)
      }
      expect(outcomeOf(await reply), id).toMatchObject({ status: 'completed', result: 'done' })
    }
  })

  it('gets 202 when the server stops, and a repeated request gets the same', async () => {
    const engine = await boot([codeOf('slow', () => gate().promise), callerOf('top', 'slow')])
    const reply = engine.run('top', { key: KEY })
    await settle(engine)

    await engine.drain(0)
    await engine.release()

    expect(await answersOf(engine, reply)).toEqual(twice(202, 'suspended'))
  })
})

describe('a caller of a run whose child waits for something else', () => {
  const asks = codeOf('asks', ({ approval }) => approval('deploy'))
  const waits = {
    approval: ({ approval }) => approval('deploy'),
    event: ({ waitForEvent }) => waitForEvent('paid'),
    'client tool': ({ clientTool }) => clientTool({ toolCallId: 'call-1', name: 'pick', args: {} }),
    resume: ({ suspend }) => suspend({ state: 1 }),
    time: ({ sleep }) => sleep('night', 1_000),
  } satisfies Record<string, (context: RunContext) => unknown>

  it.each(Object.entries(waits))('is answered at once when a fast or slow child waits for: %s', async (_, wait) => {
    const open = gate()
    const engine = await boot([
      codeOf('fast', wait),
      codeOf('slow', async (context) => [await open.promise, await wait(context)][1]),
      callerOf('middle', 'slow'),
      callerOf('of-fast', 'fast'),
      callerOf('of-slow', 'middle'),
    ])
    const fast = engine.run('of-fast')
    const slow = engine.run('of-slow', { key: KEY })
    await settle(engine)
    expect(outcomeOf(await fast)).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'child', name: 'fast' }] })
    expect(await isWaiting(slow)).toBe(true)

    open.resolve()
    await settle(engine)

    expect(outcomeOf(await slow)).toMatchObject({
      status: 'suspended',
      waitingFor: [{ kind: 'child', name: 'middle' }],
    })
    expect(await answersOf(engine, slow)).toEqual(twice(200, 'suspended'))
  })

  it('is answered once one of several children asks a person, while the other one works', async () => {
    const open = gate()
    const engine = await boot([
      codeOf('works', () => gate().promise),
      codeOf('asks', async ({ approval }) => [await open.promise, await approval('deploy')]),
      codeOf('both', ({ invoke }) => Promise.all([invoke('works', {}), invoke('asks', {})])),
    ])
    const reply = engine.run('both', { key: KEY })
    await settle(engine)
    expect(await isWaiting(reply)).toBe(true)

    open.resolve()
    await settle(engine)

    expect(await answersOf(engine, reply)).toEqual(twice(200, 'suspended'))
  })

  it('is answered only after other code of the run has come to rest', async () => {
    const open = gate()
    const engine = await boot([
      asks,
      codeOf('top', ({ invoke, step }) => Promise.all([invoke('asks', {}), step('work', () => open.promise)])),
    ])
    const reply = engine.run('top')
    await settle(engine)
    expect(await isWaiting(reply)).toBe(true)

    open.resolve()
    await settle(engine)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'child' }] })
  })

  it('with waitMs is answered at once when a child asks a person, and waits while a child sleeps', async () => {
    const engine = await boot([
      asks,
      codeOf('sleeps', async ({ sleep }) => [await sleep('nap', 1_000), 'awake'][1]),
      callerOf('of-asks', 'asks'),
      callerOf('of-sleeps', 'sleeps'),
    ])
    const asking = engine.run('of-asks', { waitMs: 5_000, key: KEY })
    const sleeping = engine.run('of-sleeps', { waitMs: 5_000 })
    await settle(engine)
    expect(await answersOf(engine, asking)).toEqual(twice(200, 'suspended'))
    expect(await isWaiting(sleeping)).toBe(true)

    await engine.advance(1_000)
    await settle(engine)

    expect(outcomeOf(await sleeping)).toMatchObject({ status: 'completed', result: 'awake' })
  })

  it('waits again for the work that follows a decision', async () => {
    const open = gate<string>()
    const engine = await boot([
      codeOf('slow', () => open.promise),
      codeOf('top', async ({ approval, invoke }) => [await approval('deploy'), await invoke('slow', {})][1]),
    ])
    const first = engine.run('top')
    await settle(engine)
    const { runId = '' } = await first
    const resumed = engine.resumeRun({
      ...{ runId, visibility: EVERY_ROW, principal: { subject: 'alice', scopes: ['admin:*'] }, key: KEY },
      approvals: [{ id: await onlyApproval(engine), approved: true }],
    })
    await settle(engine)
    expect(await isWaiting(resumed)).toBe(true)

    open.resolve('done')
    await settle(engine)

    expect(outcomeOf(await resumed)).toMatchObject({ status: 'completed', result: 'done' })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('completed')
  })
})
