import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createSessionWorld } from '../sessions/sessions.fixture.ts'
import type { StartOptions } from '../targets/run-context.ts'
import { startingWorld } from './start-call.fixture.ts'
import { agentOf, gate, outcomeOf, untilIdle, workflowOf } from './test-engine.fixture.ts'

describe('ctx.start', () => {
  it('starts a run that works on after the run that has started it has ended', async () => {
    const { send, find, runsOf, work, clock } = startingWorld({ options: {} })
    const turn = await send('digest')
    const [background] = await runsOf('digest')
    expect(await find(turn)).toMatchObject({ status: 'completed', result: JSON.stringify({ runId: background?.id }) })
    expect(background).toMatchObject({
      status: 'running',
      parentRunId: turn,
      sessionId: 'ada',
      owner: 'alice',
      depth: 1,
    })

    work.resolve('short')
    await untilIdle(clock)

    expect(await find(background?.id ?? '')).toMatchObject({ status: 'completed', result: '"short"' })
    expect(await runsOf('chat')).toHaveLength(1)
  })

  it('starts a workflow by its definition, which outlives the abort of the run that has started it', async () => {
    const flow = workflowOf('flow', async (_, { sleep }) => {
      await sleep('a while', '1h')
      return 'done'
    })
    const starter = agentOf('starter', async (_, { start, sleep }) => {
      await start({ kind: 'workflow', id: 'flow' })
      await sleep('long', '2h')
    })
    const world = createSessionWorld({ agents: [starter], workflows: [flow] })
    const { runId } = outcomeOf(await world.run('starter', { answer: 'accepted' }))
    await untilIdle(world.clock)
    await world.abortRun({ runId, visibility: EVERY_ROW })
    await world.advance(3_600_000)

    const { items } = await world.storage.runs.list({ targetId: 'flow' }, { limit: 2, order: 'asc' }, EVERY_ROW)
    expect(items).toMatchObject([{ status: 'completed', parentRunId: runId }])
  })

  it('takes no deadline from the run that has started it, but its other limits', async () => {
    const starter = agentOf('starter', (_, { start }) => start('digest'), {
      budget: { maxDuration: '1s', toolCalls: 3 },
    })
    const world = createSessionWorld({ agents: [starter, agentOf('digest', () => gate().promise)] })
    await world.run('starter')
    await world.advance(60_000)

    const { items } = await world.storage.runs.list({ targetId: 'digest' }, { limit: 2, order: 'asc' }, EVERY_ROW)
    expect(items).toMatchObject([{ status: 'running', budget: { toolCalls: 3 } }])
    expect(items[0]?.deadlineAt).toBeUndefined()
  })

  it('leaves the approvals of the run open when a message supersedes those of its parent', async () => {
    const asks = agentOf('asks', (_, { approval }) => approval('pay'))
    const starter = agentOf(
      'starter',
      async (input, { start, approval }) => {
        if (input === 'hello') return 'hello'
        await start('asks')
        return (await approval('go on')).approved
      },
      { concurrency: 'session', onBusy: 'queue', onBusyWaiting: 'deny' },
    )
    const world = createSessionWorld({ agents: [starter, asks], createSessionOnInvoke: true })
    for (const input of ['begin', 'hello']) {
      await world.run('starter', { body: { input, sessionId: 'ada' }, answer: 'accepted' })
      await untilIdle(world.clock)
      await world.advance(1_000)
    }
    const { items } = await world.storage.approvals.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ['go on', 'denied'],
      ['pay', 'pending'],
    ])
  })

  it('lets a caller wait for the run while the started one waits for a person', async () => {
    const slow = gate()
    const agents = [
      agentOf('asks', (_, { approval }) => approval('pay')),
      agentOf('slow', () => slow.promise),
      agentOf('starter', async (_, { start, invoke }) => {
        await start('asks')
        await invoke('slow')
        return 'done'
      }),
    ]
    const world = createSessionWorld({ agents })
    const reply = world.run('starter', { waitMs: 60_000 })
    await untilIdle(world.clock)
    await untilIdle(world.clock)
    slow.resolve()
    await world.advance(0)
    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'done' })
  })

  it.each([
    ['an unknown agent', ['nobody'], { code: 'agent-not-found' }],
    [
      'an unknown option',
      ['digest', 1, { onend: 'message' }],
      { message: expect.stringContaining('did you mean onEnd') },
    ],
    [
      'an unknown onEnd',
      ['digest', 1, { onEnd: 'call' }],
      { message: expect.stringContaining("onEnd must be 'message'") },
    ],
    [
      'a message without a session',
      ['digest', 1, { onEnd: 'message' }],
      { message: expect.stringContaining('needs a conversation') },
    ],
  ])('refuses %s, and starts nothing', async (_, args, refusal) => {
    const thrown: unknown[] = []
    const starter = agentOf('starter', async (_input, { start }) => {
      await start(...(args as [string, unknown, StartOptions])).catch((error: unknown) => thrown.push(error))
    })
    const world = createSessionWorld({ agents: [starter, agentOf('digest', async () => 1)] })
    await world.run('starter')

    expect(thrown).toMatchObject([refusal])
    const { items } = await world.storage.runs.list({ targetId: 'digest' }, { limit: 2, order: 'asc' }, EVERY_ROW)
    expect(items).toEqual([])
  })
})
