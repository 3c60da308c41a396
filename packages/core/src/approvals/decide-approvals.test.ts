import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, settled } from '../engine/test-engine.fixture.ts'
import { mortal } from '../model/crashing-storage.fixture.ts'
import type { RunContext } from '../targets/agent.ts'

const KEY = { id: 'key-1', fingerprint: 'same' }
const BOB = { subject: 'bob', scopes: ['agents:invoke', 'approvals:resolve'] }

const asking =
  (count: number, timeoutMs?: number) =>
  async (_: unknown, { suspend, resume }: RunContext) => {
    if (resume !== undefined)
      return resume.approvals.map(({ name, granted, reason, payload }) => [name, granted, reason, payload])
    const approvals = Array.from({ length: count }, (_, index) => ({
      name: `a${index}`,
      toolCallId: `call-${index}`,
      ...(timeoutMs === undefined ? {} : { timeoutMs: timeoutMs + index }),
    }))
    return suspend({ approvals })
  }

const inCalls = async (_: unknown, { approval }: RunContext) =>
  (await Promise.all(['a0', 'a1', 'a2'].map((name) => approval(name)))).map(({ granted, payload }) => [
    granted,
    payload,
  ])

async function house(run: (input: unknown, context: RunContext) => Promise<unknown>) {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const start = async (storage: Storage = shared.storage) => {
    const engine = createTestEngine({ ...shared, storage, agents: [agentOf('asks', run, { recovery: 'resume' })] })
    await engine.recover()
    await engine.start()
    await settled(shared.clock)
    return engine
  }
  const first = mortal(shared.storage)
  const engine = await start(first.storage)
  const asked = engine.run('asks')
  await settled(shared.clock)
  const { runId, approvals = [] } = outcomeOf(await asked)
  const ids = approvals.map(({ id }) => id)
  const approvalsOf = async () =>
    (await shared.storage.approvals.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items
  const resume = (given: object, target = engine) =>
    target.resumeRun({ runId, principal: BOB, visibility: EVERY_ROW, ...given })
  return { ...shared, ...first, storage: shared.storage, start, engine, runId, ids, approvalsOf, resume }
}

describe('a resume with several decisions', () => {
  it.each([
    ['a run that is suspended as a whole', asking(3)],
    ['a run that is suspended at its calls', inCalls],
  ])('decides all of them for %s in one commit', async (_, code) => {
    const { ids, resume, storage, clock, approvalsOf, runId } = await house(code)
    const before = (await storage.events.head()).position

    resume({ approvals: ids.map((id, index) => ({ id, granted: index !== 1, payload: index })), key: KEY })
    await settled(clock)

    expect((await approvalsOf()).map(({ status }) => status)).toEqual(['granted', 'denied', 'granted'])
    expect(await storage.runs.find(runId, EVERY_ROW)).toMatchObject({ status: 'completed' })
    const types = (await storage.events.read({ runId }, { after: before, limit: 99 })).map(({ type }) => type)
    expect(types.filter((type) => type === 'run.resumed')).toHaveLength(1)
  })

  it('decides none when one of them cannot be decided', async () => {
    const { ids, engine, resume, approvalsOf } = await house(asking(3))
    await engine.resolveApproval({ approvalId: ids[2] ?? '', granted: false, by: 'carol', visibility: EVERY_ROW })
    const all = ids.map((id) => ({ id, granted: true }))

    await expect(resume({ approvals: all, key: KEY })).rejects.toMatchObject({
      id: 'approval-resolved',
      message: expect.stringContaining('carol'),
    })
    await expect(
      resume({
        approvals: [
          { id: ids[0], granted: true },
          { id: 'apr-x', granted: true },
        ],
      }),
    ).rejects.toMatchObject({
      id: 'approval-not-found',
    })

    expect((await approvalsOf()).map(({ status }) => status)).toEqual(['pending', 'pending', 'denied'])
  })

  it('finds the newest approval of a tool call however many a run has had', async () => {
    const { resume, engine, storage, clock, runId } = await house(asking(1))
    const { items } = await storage.approvals.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)
    const older = Array.from({ length: 250 }, (_, index) => ({
      ...items[0]!,
      ...{ id: `apr-${index}`, toolCallId: `other-${index}`, createdAt: clock.now() },
    }))
    clock.advance(1)
    await storage.unitOfWork.commit(older.map((approval) => ({ type: 'approval.insert', approval }) as const))

    const outcome = outcomeOf(await resume({ approvals: [{ toolCallId: 'call-0', granted: true }] }))

    expect(outcome).toMatchObject({ runId, status: 'completed', result: [['a0', true, null, null]] })
    expect(engine).toBeDefined()
  })

  it('is remembered under its key when the run still waits, and decides nothing again', async () => {
    const { ids, resume, engine } = await house(asking(2))
    const request = { approvals: [{ id: ids[0], granted: true }], key: KEY }

    const first = outcomeOf(await resume(request))
    const again = await resume(request)

    expect(first).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'approval', approvalId: ids[1] }] })
    expect(again).toMatchObject({ replayed: true, status: 200 })
    expect(outcomeOf(again)).toEqual(first)
    expect(await engine.recall(KEY)).toMatchObject({ replayed: true })
  })

  it('answers its key with what the run came to when the process dies right after the commit', async () => {
    const { ids, resume, dieAfter, isDead, start, clock, runId } = await house(asking(2))
    const request = { approvals: ids.map((id) => ({ id, granted: true })), key: KEY }

    dieAfter(1)
    resume(request)
    await settled(clock)
    expect(isDead()).toBe(true)
    const next = await start()
    await settled(clock)

    expect(outcomeOf((await next.recall(KEY))!)).toMatchObject({ runId, status: 'completed' })
  })

  it('takes effect once when it comes several times at once', async () => {
    const { ids, resume, clock } = await house(asking(2))
    const request = { approvals: ids.map((id) => ({ id, granted: true })), key: KEY }

    const replies = await Promise.allSettled([resume(request), resume(request), resume(request)])
    await settled(clock)

    const ids409 = replies.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.id))
    expect(ids409[0]).toBe(200)
    expect(['idempotency-in-flight', 'run-not-suspended', 200]).toEqual(expect.arrayContaining(ids409.slice(1)))
  })
})

describe('a second decision', () => {
  const decide = {
    granted: true,
    reason: 'fine',
    payload: { amount: 5, to: 'x' },
    by: 'bob',
    visibility: EVERY_ROW,
  } as const

  it.each([
    ['payload', { payload: { amount: 6, to: 'x' } }],
    ['missing payload', { payload: undefined }],
    ['reason', { reason: 'other' }],
    ['verdict', { granted: false }],
  ])('with another %s is refused and names the winner', async (_, over) => {
    const { ids, engine } = await house(asking(2))
    await engine.resolveApproval({ approvalId: ids[0] ?? '', ...decide })

    await expect(
      engine.resolveApproval({ approvalId: ids[0] ?? '', ...decide, ...over, by: 'eve' }),
    ).rejects.toMatchObject({
      id: 'approval-resolved',
      message: expect.stringContaining('granted by bob'),
    })
  })

  it('that is the same in verdict, reason and payload is answered as the first', async () => {
    const { ids, engine } = await house(asking(2))
    const first = await engine.resolveApproval({ approvalId: ids[0] ?? '', ...decide })

    const again = await engine.resolveApproval({
      ...{ approvalId: ids[0] ?? '', ...decide },
      payload: { to: 'x', amount: 5 },
      by: 'eve',
    })

    expect(again).toEqual(first)
  })
})

describe('the right to decide within a resume', () => {
  const EVE = { subject: 'eve', scopes: ['agents:invoke'] }

  it('comes with the right to resume for what a run suspends itself for', async () => {
    const { ids, resume } = await house(asking(1))

    const outcome = outcomeOf(await resume({ approvals: [{ id: ids[0], granted: true }], principal: EVE }))

    expect(outcome.status).toBe('completed')
  })

  it('takes approvals:resolve for what its code asks of a human', async () => {
    const { ids, resume, approvalsOf, clock } = await house(inCalls)
    const request = { approvals: [{ id: ids[0], granted: true }] }
    const withScope = (scope: string) => ({ ...request, principal: { ...EVE, scopes: ['agents:invoke', scope] } })

    await expect(resume({ ...request, principal: EVE })).rejects.toMatchObject({
      id: 'scope-denied',
      hint: expect.stringContaining(`approvals:resolve:${ids[0]}`),
    })
    await expect(resume(withScope('approvals:resolve:apr_other'))).rejects.toMatchObject({ id: 'scope-denied' })
    await expect(resume(withScope('approvals:resolve:own'))).rejects.toMatchObject({ id: 'scope-denied' })
    expect((await approvalsOf()).map(({ status }) => status)).toEqual(['pending', 'pending', 'pending'])

    resume(withScope(`approvals:resolve:${ids[0]}`))
    await settled(clock)
    expect((await approvalsOf()).map(({ status }) => status)).toEqual(['granted', 'pending', 'pending'])
  })
})

describe('an approval of ctx.suspend', () => {
  it('expires on time, and the run goes on once all are decided or expired', async () => {
    const { ids, engine, runId, storage, clock, approvalsOf } = await house(asking(3, 1_000))
    await engine.resolveApproval({ approvalId: ids[1] ?? '', granted: true, by: 'bob', visibility: EVERY_ROW })

    await engine.pass(1_000)
    expect((await approvalsOf()).map(({ status }) => status)).toEqual(['expired', 'granted', 'pending'])
    expect((await storage.runs.find(runId, EVERY_ROW))?.status).toBe('suspended')
    await engine.pass(2)
    await settled(clock)

    expect(await storage.runs.find(runId, EVERY_ROW)).toMatchObject({
      status: 'completed',
      result: '[["a0",false,"expired",null],["a1",true,null,null],["a2",false,"expired",null]]',
    })
    const inbox = await storage.events.read({ topic: 'approvals/events' }, { after: 0, limit: 99 })
    expect(inbox.filter(({ type }) => type === 'approval.expired')).toHaveLength(2)
  })

  it('expires at the next start when its time came while no process ran', async () => {
    const { runId, storage, clock, start, dieAfter } = await house(asking(1, 1_000))
    dieAfter(0)
    clock.advance(5_000)

    await start()
    await settled(clock)

    expect(await storage.runs.find(runId, EVERY_ROW)).toMatchObject({
      status: 'completed',
      result: '[["a0",false,"expired",null]]',
    })
  })

  it('refuses a decision after it has expired', async () => {
    const { ids, engine } = await house(asking(2, 1_000))
    await engine.pass(1_000)

    await expect(
      engine.resolveApproval({ approvalId: ids[0] ?? '', granted: false, by: 'bob', visibility: EVERY_ROW }),
    ).rejects.toMatchObject({ id: 'approval-resolved', message: expect.stringContaining('expired') })
  })
})
