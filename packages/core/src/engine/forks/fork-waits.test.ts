import { EVERY_ROW, toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../../targets/run-context.ts'
import { ALICE, agentOf, outcomeOf, workflowOf } from '../test-engine.fixture.ts'
import { hashOf, startEngine } from './fork-run.fixture.ts'

describe('the open waits of a fork', () => {
  it('asks open approvals again, and continues timers and events', async () => {
    const waiting = workflowOf('waiting', async (_, ctx) =>
      Promise.all([
        ctx.approval('release', { title: 'Release?', payload: { n: 1 }, timeout: 60_000 }),
        ctx.sleep('rest', 5_000),
        ctx.waitForEvent('paid'),
      ]),
    )
    const engine = await startEngine({ workflows: [waiting] })
    const source = await engine.execute('waiting')
    const before = await hashOf(engine, source)
    await engine.advance(1_000)
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect((await engine.find(runId))?.status).toBe('suspended')
    const { items } = await engine.storage.approvals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items).toMatchObject([
      { seq: 1, name: 'release', title: 'Release?', payload: toJsonText({ n: 1 }), status: 'pending' },
    ])
    expect(items[0]?.expiresAt).toBe(engine.clock.now() + 60_000)
    expect(await engine.storage.steps.list(runId)).toMatchObject([
      { kind: 'approval', status: 'waiting', approvalId: items[0]?.id },
      { kind: 'sleep', status: 'waiting', dueAt: engine.clock.now() + 4_000 },
      { kind: 'event', status: 'waiting', eventName: 'paid' },
    ])
    expect(await hashOf(engine, source)).toBe(before)
    const types = (await engine.eventsOf(runId)).map(({ type }) => type)
    expect(types.slice(0, 5)).toEqual([
      ...['run.forked', 'run.queued', 'run.started', 'step.start', 'approval.requested'],
    ])
  })

  it('copies what a person has decided for a caller that may decide', async () => {
    let isDown = true
    const approved = workflowOf('approved', async (_, ctx) => {
      const decision = await ctx.approval('release')
      return ctx.step('ship', () => {
        if (isDown) throw new Error('down')
        return decision
      })
    })
    const engine = await startEngine({ workflows: [approved] })
    const source = await engine.execute('approved')
    const [asked] = (await engine.storage.approvals.list({ runId: source }, { limit: 1, order: 'asc' }, EVERY_ROW))
      .items
    await engine.resolveApproval({
      ...{ approvalId: asked?.id ?? '', approved: true, reason: 'fine', visibility: EVERY_ROW },
      by: 'alice',
    })
    await engine.advance(0)
    isDown = false
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed' })
    expect((await engine.find(runId))?.result).toContain('"approved":true')
    expect((await engine.storage.approvals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items).toEqual([])
  })

  it('restarts a child that had used up the budget of the source', async () => {
    let toolCalls = 3
    const child = agentOf('child', async (_, { tool }) => {
      for (let n = 0; n < toolCalls; n++) await tool({ name: 'look-up', execute: () => n })
      return 'done'
    })
    const code = (_: unknown, { invoke }: RunContext) => invoke('child')
    const parent = workflowOf('parent', code, { budget: { toolCalls: 2 } })
    const engine = await startEngine({ agents: [child], workflows: [parent] })
    const source = await engine.execute('parent')
    await engine.advance(0)
    expect(await engine.find(source)).toMatchObject({ error: { code: 'budget-exhausted', budgetOf: source } })

    toolCalls = 1
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '"done"', usage: { toolCalls: 1 } })
  })

  it('copies the results of children that have ended, and starts unfinished children again', async () => {
    const runs: unknown[] = []
    const child = agentOf('child', async (input, ctx) => {
      runs.push(input)
      if (input === 'slow') await ctx.sleep('nap', 10_000)
      return `done ${String(input)}`
    })
    const tagged = { ...child, tags: ['slow'] }
    const parent = workflowOf('parent', async (_, ctx) => [
      await ctx.invoke('child', 'quick'),
      await ctx.invoke('child', 'slow'),
    ])
    const engine = await startEngine({ agents: [tagged], workflows: [parent] })
    const source = await engine.execute('parent')
    await engine.abortRun({ runId: source, principal: ALICE, visibility: EVERY_ROW })
    await engine.advance(0)
    runs.length = 0

    const { runId } = await engine.fork(source)
    await engine.advance(0)
    await engine.advance(10_000)

    expect(runs).toEqual(['slow', 'slow']) // once, and again after its sleep
    expect((await engine.find(runId))?.result).toBe(toJsonText(['done quick', 'done slow']))
    const children = await engine.storage.runs.list(
      { parentRunId: runId, tag: 'slow' },
      { limit: 9, order: 'asc' },
      EVERY_ROW,
    )
    expect(children.items).toMatchObject([{ parentSeq: 2, depth: 1, status: 'completed' }])
    const [copied] = await engine.storage.steps.list(runId)
    const [original] = await engine.storage.steps.list(source)
    expect([copied?.status, copied?.usage]).toEqual(['completed', undefined])
    expect(copied?.childRunId).toBe(original?.childRunId)
  })

  it('starts a child again whose failure ended its parent', async () => {
    let isDown = true
    const child = agentOf('child', async () => {
      if (isDown) throw new Error('down')
      return 'up'
    })
    const parent = workflowOf('parent', (_, ctx) => ctx.invoke('child', null))
    const engine = await startEngine({ agents: [child], workflows: [parent] })
    const source = await engine.execute('parent')
    expect((await engine.find(source))?.status).toBe('failed')
    isDown = false
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: toJsonText('up') })
  })

  it('executes a step again that was executing when its run ended', async () => {
    const never = new Promise<never>(() => undefined)
    let isHanging = true
    const hanging = workflowOf('hanging', (_, { step }) =>
      step('call', () => (isHanging ? never : 'done'), { onCrash: 'ask' }),
    )
    const engine = await startEngine({ workflows: [hanging] })
    const source = await engine.execute('hanging')
    await engine.abortRun({ runId: source, principal: ALICE, visibility: EVERY_ROW })
    isHanging = false
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: toJsonText('done') })
  })

  it('waits for a resume if its source was waiting for one when it was aborted', async () => {
    const pausing = workflowOf('pausing', async (_, ctx) => {
      if (ctx.resume === undefined) return ctx.suspend({ approvals: [{ name: 'go' }] })
      await ctx.sleep('rest', 5)
      return ctx.resume.approvals.map(({ approved }) => approved)
    })
    const engine = await startEngine({ workflows: [pausing] })
    const source = await engine.execute('pausing')
    await engine.abortRun({ runId: source, principal: ALICE, visibility: EVERY_ROW })
    await engine.advance(0)

    const { runId } = await engine.fork(source)
    await engine.advance(0)
    const { items } = await engine.storage.approvals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect([(await engine.find(runId))?.status, items.map(({ status }) => status)]).toEqual(['suspended', ['pending']])
    await engine.resolveApproval({ approvalId: items[0]?.id ?? '', approved: true, by: 'bob', visibility: EVERY_ROW })
    for (const ms of [0, 5]) await engine.advance(ms)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '[true]' })
  })

  it('waits for a resume when its source does, with approvals of its own', async () => {
    const agent = agentOf('asking', async (_, ctx) =>
      ctx.resume === undefined ? ctx.suspend({ state: { n: 1 }, approvals: [{ name: 'go' }] }) : ctx.resume.approvals,
    )
    const engine = await startEngine({ agents: [agent] })
    const source = outcomeOf(await engine.run('asking')).runId
    const before = await hashOf(engine, source)
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect((await engine.find(runId))?.status).toBe('suspended')
    const { items } = await engine.storage.approvals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items).toHaveLength(1)
    await engine.resolveApproval({
      ...{ approvalId: items[0]?.id ?? '', approved: true, visibility: EVERY_ROW },
      by: 'alice',
    })
    await engine.advance(0)
    expect(await engine.find(runId)).toMatchObject({ status: 'completed' })
    expect(await hashOf(engine, source)).toBe(before)
  })

  it('refuses to replace a decision, and records in the audit log what a fork replaced', async () => {
    const asking = workflowOf('asking', async (_, ctx) => {
      const draft = await ctx.step('draft', () => 'a')
      return [draft, (await ctx.approval('go')).approved]
    })
    const engine = await startEngine({ workflows: [asking] })
    const source = await engine.execute('asking')
    const { items } = await engine.storage.approvals.list({ runId: source }, { limit: 9, order: 'asc' }, EVERY_ROW)
    await engine.resolveApproval({
      approvalId: items[0]?.id ?? '',
      approved: false,
      visibility: EVERY_ROW,
      by: 'alice',
    })
    await engine.advance(0)

    await expect(engine.fork(source, { from: { seq: 3 }, results: { 2: { approved: true } } })).rejects.toMatchObject({
      code: 'validation-failed',
      message: 'results.2 would replace the outcome of the approval go, which comes from a person',
    })
    const { runId } = await engine.fork(source, { from: { seq: 3 }, results: { 1: 'b' }, input: { n: 2 } })
    await engine.advance(0)

    expect((await engine.find(runId))?.result).toBe(toJsonText(['b', false]))
    const entries = await engine.storage.audit.read({ afterSeq: 0, limit: 99 })
    expect(entries.map(({ detail }) => detail)).toContainEqual({
      ...{ runId, seq: 2, hasNewInput: true, newResults: '1', keptDecisions: '2' },
    })
  })
})
