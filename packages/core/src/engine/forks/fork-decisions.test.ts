import { EVERY_ROW, toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../../targets/run-context.ts'
import { ALICE, workflowOf } from '../test-engine.fixture.ts'
import { startEngine } from './fork-run.fixture.ts'

type Engine = Awaited<ReturnType<typeof startEngine>>

const REPAIRS = { subject: 'alice', scopes: [...ALICE.scopes, 'runs:repair'] }

const approvalsOf = async ({ storage }: Engine, runId: string) =>
  (await storage.approvals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items

async function decide(engine: Engine, runId: string, approved = true): Promise<void> {
  const asked = (await approvalsOf(engine, runId)).find(({ status }) => status === 'pending')
  await engine.resolveApproval({ approvalId: asked?.id ?? '', approved, by: 'boss', visibility: EVERY_ROW })
  await engine.advance(0)
}

/** Asks for approval of a quoted amount, transfers it, and files the receipt. */
function paying() {
  const effects: string[] = []
  const workflow = workflowOf('paying', async (input, ctx) => {
    const amount = await ctx.step('quote', () => input)
    const { approved } = await ctx.approval('pay', { payload: { amount } })
    if (!approved) return 'denied'
    await ctx.step('transfer', () => void effects.push(`transfer ${amount}`))
    return ctx.step('file', () => {
      effects.push('file')
      return amount
    })
  })
  return { workflow, effects }
}

describe('a fork behind a decision', () => {
  it('asks again, and keeps the calls that the source made after the decision', async () => {
    const { workflow, effects } = paying()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('paying', { input: 10 })
    await decide(engine, source)

    const { runId } = await engine.fork(source, { from: { seq: 4 }, principal: REPAIRS })
    await engine.advance(0)
    expect(await engine.find(runId)).toMatchObject({ status: 'suspended' })
    expect(effects).toEqual(['transfer 10', 'file'])
    await decide(engine, runId)

    expect(effects).toEqual(['transfer 10', 'file', 'file'])
    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: '10' })
  })

  it('asks for what its code asks now, not for what was asked in its source', async () => {
    const { workflow } = paying()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('paying', { input: 10 })

    const { runId } = await engine.fork(source, { from: { seq: 3 }, results: { 1: 20 }, principal: REPAIRS })
    await engine.advance(0)

    expect(await approvalsOf(engine, runId)).toMatchObject([{ payload: toJsonText({ amount: 20 }), status: 'pending' }])
  })

  it('acts on the decision if the caller may decide, and records that in the audit log', async () => {
    const { workflow, effects } = paying()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('paying', { input: 10 })
    await decide(engine, source)

    const { runId } = await engine.fork(source, { from: { seq: 3 } })
    await engine.advance(0)

    expect(effects).toEqual(['transfer 10', 'file', 'transfer 10', 'file'])
    const [decision] = await approvalsOf(engine, source)
    expect((await engine.storage.steps.list(runId))[1]).toMatchObject({ approvalId: decision?.id })
    const entries = await engine.storage.audit.read({ afterSeq: 0, limit: 99 })
    expect(entries.map(({ detail }) => detail)).toContainEqual({ runId, seq: 2, keptDecisions: '2' })
  })

  it('counts a scope for the approvals of one owner only for those', async () => {
    const { workflow } = paying()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('paying', { input: 10 })
    await decide(engine, source)
    const scopes = [...ALICE.scopes, 'runs:repair', 'approvals:resolve:own']

    const own = await engine.fork(source, { from: { seq: 3 }, principal: { subject: 'alice', scopes } })
    const foreign = await engine.fork(source, { from: { seq: 3 }, principal: { subject: 'bob', scopes } })
    await engine.advance(0)

    expect(await engine.find(own.runId)).toMatchObject({ status: 'completed' })
    expect(await engine.find(foreign.runId)).toMatchObject({ status: 'suspended' })
  })

  it('counts a scope for one run, or for the own runs, only for those', async () => {
    const { workflow } = paying()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('paying', { input: 10 })
    await decide(engine, source)
    const forkAs = (subject: string, scope: string) =>
      engine.fork(source, { from: { seq: 3 }, principal: { subject, scopes: [...ALICE.scopes, scope] } })

    for (const [subject, scope] of [
      ['bob', `runs:repair:${source}`],
      ['alice', 'runs:repair:own'],
    ] as const)
      expect((await forkAs(subject, scope)).reply.status).toBe(202)
    for (const [subject, scope] of [
      ['bob', 'runs:repair:own'],
      ['alice', 'runs:repair:other'],
      ['alice', 'approvals:resolve'],
    ] as const)
      await expect(forkAs(subject, scope)).rejects.toMatchObject({ code: 'scope-denied' })
  })

  it('asks again for a decision whose call stored no hash', async () => {
    const { workflow } = paying()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('paying', { input: 10 })
    await decide(engine, source)
    const earlier = (await engine.storage.steps.list(source)).map(({ askedHash: _, ...step }) => step)
    const { listBriefly } = engine.storage.steps
    engine.storage.steps.listBriefly = async (runId, range) =>
      runId === source ? earlier.filter(({ seq }) => seq > range.after) : listBriefly(runId, range)

    const { runId } = await engine.fork(source, { from: { seq: 3 } })
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'suspended' })
  })

  it('is refused when the decision lies before a suspension that is copied', async () => {
    const effects: string[] = []
    const pausing = workflowOf('pausing', async (_, ctx) => {
      if (ctx.resume === undefined) return ctx.suspend({ state: await ctx.approval('pay') })
      return ctx.step('transfer', () => void effects.push('transfer'))
    })
    const engine = await startEngine({ workflows: [pausing] })
    const source = await engine.execute('pausing')
    await decide(engine, source)
    await engine.resumeRun({ runId: source, principal: ALICE, visibility: EVERY_ROW })
    expect(effects).toEqual(['transfer'])

    await expect(engine.fork(source, { from: { seq: 2 }, principal: REPAIRS })).rejects.toMatchObject({
      ...{ code: 'scope-denied', hint: expect.stringContaining('approvals:resolve') },
    })
    await engine.fork(source, { from: { seq: 2 } })
    await engine.advance(0)
    expect(effects).toEqual(['transfer', 'transfer'])
  })

  it('needs no further scope before the decision, or when nobody decided', async () => {
    const { workflow } = paying()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('paying', { input: 10 })
    await decide(engine, source)
    const timing = workflowOf('timing', async (_, ctx) => {
      await ctx.approval('pay', { timeout: 1_000 })
      throw new Error('down')
    })
    const other = await startEngine({ workflows: [timing] })
    const expired = await other.execute('timing')
    await other.advance(1_000)

    for (const from of ['start', { seq: 1 }, { seq: 2 }] as const)
      expect((await engine.fork(source, { from, principal: ALICE })).reply.status).toBe(202)
    expect((await engine.fork(source, { from: 'start', input: 3, principal: ALICE })).reply.status).toBe(202)
    expect((await other.fork(expired, { principal: ALICE })).reply.status).toBe(202)
  })
})

describe('the results that a fork replaces', () => {
  const everyKind = workflowOf('every-kind', async (_, ctx: RunContext) => {
    await ctx.step('work', () => 1)
    await ctx.version('branch', 1, 2)
    await ctx.sleep('rest', 1)
    await ctx.waitForEvent('paid')
    await ctx.approval('go')
    await ctx.invoke('child', null)
    await ctx.clientTool({ name: 'pick', toolCallId: 'pick' })
    throw new Error('down')
  })

  it('are those of the code, not those that come from outside', async () => {
    const child = workflowOf('child', async () => 'done')
    const engine = await startEngine({ workflows: [everyKind, child] })
    const source = await engine.execute('every-kind')
    await engine.advance(1)
    await engine.emitEvent({ name: 'paid', payload: 1 })
    await engine.advance(0)
    await decide(engine, source)
    await engine.resumeRun({
      ...{ runId: source, toolResults: [{ toolCallId: 'pick', result: 'red' }], principal: ALICE },
      visibility: EVERY_ROW,
    })
    await engine.advance(0)
    const calls = await engine.storage.steps.list(source)

    const outcomes = calls.map(async ({ seq, kind, name }) => {
      const forking = engine.fork(source, { from: { seq: calls.length + 1 }, results: { [seq]: 1 } })
      return [
        kind,
        await forking.then(
          () => 'replaced',
          (error) => error.message.replace(`results.${seq} would replace the outcome of the ${kind} ${name}, `, ''),
        ),
      ]
    })

    expect(await Promise.all(outcomes)).toEqual([
      ['step', 'replaced'],
      ['version', 'replaced'],
      ['sleep', 'which comes from a timer'],
      ['event', 'which comes from the sender of an event'],
      ['approval', 'which comes from a person'],
      ['child', 'which comes from a child run'],
      ['client-tool', 'which comes from the client'],
    ])
  })
})
