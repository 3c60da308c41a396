import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import { createCrashingStorage } from '../engine-model/crashing-storage.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

const KEY = { id: 'key-1', fingerprint: 'same' }
const BOB = { subject: 'bob', scopes: ['agents:invoke', 'approvals:resolve'] }

const suspending =
  (count: number, timeout?: number) =>
  async (_: unknown, { suspend, resume }: RunContext) => {
    if (resume !== undefined)
      return resume.approvals.map(({ name, approved, reason, payload }) => [name, approved, reason, payload])
    const approvals = Array.from({ length: count }, (_, index) => ({
      name: `a${index}`,
      toolCallId: `call-${index}`,
      ...(timeout === undefined ? {} : { timeout: timeout + index }),
    }))
    return suspend({ approvals })
  }

const callingApproval = async (_: unknown, { approval }: RunContext) =>
  (await Promise.all(['a0', 'a1', 'a2'].map((name) => approval(name)))).map(({ approved, payload }) => [
    approved,
    payload,
  ])

/** A run that waits for approvals, on a server whose storage can crash. */
async function setUpRun(code: (input: unknown, context: RunContext) => Promise<unknown>) {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const { storage, clock } = shared
  const start = async (ownStorage: Storage = storage) => {
    const agents = [agentOf('asks', code, { onCrash: 'retry' })]
    const engine = createTestEngine({ ...shared, storage: ownStorage, agents })
    await engine.recover()
    await engine.start()
    await untilIdle(clock)
    return engine
  }
  const crashing = createCrashingStorage(storage)
  const engine = await start(crashing.storage)
  const reply = engine.run('asks')
  await untilIdle(clock)
  const { runId, approvals = [] } = outcomeOf(await reply)
  const run = {
    id: runId,
    approvalIds: approvals.map(({ id }) => id),
    resume: (request: object) => engine.resumeRun({ runId, principal: BOB, visibility: EVERY_ROW, ...request }),
    approvalStatuses: async () => {
      const { items } = await storage.approvals.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)
      return items.map(({ status }) => status)
    },
  }
  const server = { engine, crashAfter: crashing.crashAfter, hasCrashed: crashing.hasCrashed, restart: () => start() }
  return { run, server, storage, clock }
}

describe('resume with several decisions', () => {
  it.each([
    ['a run suspended by ctx.suspend', suspending(3)],
    ['a run suspended by ctx.approval', callingApproval],
  ])('commits all decisions together for %s', async (_, code) => {
    const { run, storage, clock } = await setUpRun(code)
    const before = (await storage.events.head()).position

    const approvals = run.approvalIds.map((id, index) => ({ id, approved: index !== 1, payload: index }))
    run.resume({ approvals, key: KEY })
    await untilIdle(clock)

    expect(await run.approvalStatuses()).toEqual(['approved', 'denied', 'approved'])
    expect(await storage.runs.find(run.id, EVERY_ROW)).toMatchObject({ status: 'completed' })
    const types = (await storage.events.read({ runId: run.id }, { after: before, limit: 99 })).map(({ type }) => type)
    expect(types.filter((type) => type === 'run.resumed')).toHaveLength(1)
  })

  it('commits no decision if one of them is rejected', async () => {
    const { run, server } = await setUpRun(suspending(3))
    const ids = run.approvalIds
    await server.engine.resolveApproval({
      approvalId: ids[2] ?? '',
      approved: false,
      by: 'carol',
      visibility: EVERY_ROW,
    })
    const all = ids.map((id) => ({ id, approved: true }))

    await expect(run.resume({ approvals: all, key: KEY })).rejects.toMatchObject({
      code: 'approval-resolved',
      message: expect.stringContaining('carol'),
    })
    await expect(
      run.resume({
        approvals: [
          { id: ids[0], approved: true },
          { id: 'apr-x', approved: true },
        ],
      }),
    ).rejects.toMatchObject({
      code: 'approval-not-found',
    })

    expect(await run.approvalStatuses()).toEqual(['pending', 'pending', 'denied'])
  })

  it('finds the newest approval of a tool call among hundreds of older approvals', async () => {
    const { run, server, storage, clock } = await setUpRun(suspending(1))
    const { items } = await storage.approvals.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)
    const older = Array.from({ length: 250 }, (_, index) => ({
      ...items[0]!,
      ...{ id: `apr-${index}`, toolCallId: `other-${index}`, createdAt: clock.now() },
    }))
    clock.advance(1)
    await storage.unitOfWork.commit(older.map((approval) => ({ type: 'approval.insert', approval }) as const))

    const outcome = outcomeOf(await run.resume({ approvals: [{ toolCallId: 'call-0', approved: true }] }))

    expect(outcome).toMatchObject({ runId: run.id, status: 'completed', result: [['a0', true, null, null]] })
    expect(server.engine).toBeDefined()
  })

  it('replays the answer of a repeated key while the run still waits', async () => {
    const { run, server } = await setUpRun(suspending(2))
    const ids = run.approvalIds
    const request = { approvals: [{ id: ids[0], approved: true }], key: KEY }

    const first = outcomeOf(await run.resume(request))
    const again = await run.resume(request)

    expect(first).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'approval', approvalId: ids[1] }] })
    expect(again).toMatchObject({ replayed: true, status: 200 })
    expect(outcomeOf(again)).toEqual(first)
    expect(await server.engine.recall(KEY)).toMatchObject({ replayed: true })
  })

  it('stores the outcome of the run under its key even if the process crashes right after the commit', async () => {
    const { run, server, clock } = await setUpRun(suspending(2))
    const request = { approvals: run.approvalIds.map((id) => ({ id, approved: true })), key: KEY }

    server.crashAfter(1)
    run.resume(request)
    await untilIdle(clock)
    expect(server.hasCrashed()).toBe(true)
    const restarted = await server.restart()
    await untilIdle(clock)

    expect(outcomeOf((await restarted.recall(KEY))!)).toMatchObject({ runId: run.id, status: 'completed' })
  })

  it('takes effect once for concurrent requests with one key', async () => {
    const { run, clock } = await setUpRun(suspending(2))
    const request = { approvals: run.approvalIds.map((id) => ({ id, approved: true })), key: KEY }

    const replies = await Promise.allSettled([run.resume(request), run.resume(request), run.resume(request)])
    await untilIdle(clock)

    const results = replies.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.code))
    expect(results[0]).toBe(200)
    expect(['idempotency-in-flight', 'run-not-suspended', 200]).toEqual(expect.arrayContaining(results.slice(1)))
  })
})

describe('second decision on an approval', () => {
  const decide = {
    approved: true,
    reason: 'fine',
    payload: { amount: 5, to: 'x' },
    by: 'bob',
    visibility: EVERY_ROW,
  } as const

  it.each([
    ['payload', { payload: { amount: 6, to: 'x' } }],
    ['missing payload', { payload: undefined }],
    ['reason', { reason: 'other' }],
    ['verdict', { approved: false }],
  ])('is rejected if it differs (%s), with an error that names the first decider', async (_, over) => {
    const { run, server } = await setUpRun(suspending(2))
    const [approvalId = ''] = run.approvalIds
    await server.engine.resolveApproval({ approvalId, ...decide })

    await expect(server.engine.resolveApproval({ approvalId, ...decide, ...over, by: 'eve' })).rejects.toMatchObject({
      code: 'approval-resolved',
      message: expect.stringContaining('approved by bob'),
    })
  })

  it('returns the first answer if verdict, reason and payload are the same', async () => {
    const { run, server } = await setUpRun(suspending(2))
    const [approvalId = ''] = run.approvalIds
    const first = await server.engine.resolveApproval({ approvalId, ...decide })

    const again = await server.engine.resolveApproval({
      ...{ approvalId, ...decide },
      payload: { to: 'x', amount: 5 },
      by: 'eve',
    })

    expect(again).toEqual(first)
  })
})

describe('decision within a resume', () => {
  const EVE = { subject: 'eve', scopes: ['agents:invoke'] }

  it('requires only the right to resume for an approval of ctx.suspend', async () => {
    const { run } = await setUpRun(suspending(1))
    const [id] = run.approvalIds

    const outcome = outcomeOf(await run.resume({ approvals: [{ id, approved: true }], principal: EVE }))

    expect(outcome.status).toBe('completed')
  })

  it('requires approvals:resolve for an approval of ctx.approval', async () => {
    const { run, clock } = await setUpRun(callingApproval)
    const [id] = run.approvalIds
    const request = { approvals: [{ id, approved: true }] }
    const withScope = (scope: string) => ({ ...request, principal: { ...EVE, scopes: ['agents:invoke', scope] } })

    await expect(run.resume({ ...request, principal: EVE })).rejects.toMatchObject({
      code: 'scope-denied',
      hint: expect.stringContaining(`approvals:resolve:${id}`),
    })
    await expect(run.resume(withScope('approvals:resolve:apr_other'))).rejects.toMatchObject({ code: 'scope-denied' })
    await expect(run.resume(withScope('approvals:resolve:own'))).rejects.toMatchObject({ code: 'scope-denied' })
    expect(await run.approvalStatuses()).toEqual(['pending', 'pending', 'pending'])

    run.resume(withScope(`approvals:resolve:${id}`))
    await untilIdle(clock)
    expect(await run.approvalStatuses()).toEqual(['approved', 'pending', 'pending'])
  })
})

describe('approval of ctx.suspend', () => {
  it('expires on time, and the run resumes once all are decided or expired', async () => {
    const { run, server, storage, clock } = await setUpRun(suspending(3, 1_000))
    const [, approvalId = ''] = run.approvalIds
    await server.engine.resolveApproval({ approvalId, approved: true, by: 'bob', visibility: EVERY_ROW })

    await server.engine.advance(1_000)
    expect(await run.approvalStatuses()).toEqual(['expired', 'approved', 'pending'])
    expect((await storage.runs.find(run.id, EVERY_ROW))?.status).toBe('suspended')
    await server.engine.advance(2)
    await untilIdle(clock)

    expect(await storage.runs.find(run.id, EVERY_ROW)).toMatchObject({
      status: 'completed',
      result: '[["a0",false,"expired",null],["a1",true,null,null],["a2",false,"expired",null]]',
    })
    const inbox = await storage.events.read({ topic: 'approvals/events' }, { after: 0, limit: 99 })
    expect(inbox.filter(({ type }) => type === 'approval.expired')).toHaveLength(2)
  })

  it('expires at the next start if it became overdue while no process was running', async () => {
    const { run, server, storage, clock } = await setUpRun(suspending(1, 1_000))
    server.crashAfter(0)
    clock.advance(5_000)

    await server.restart()
    await untilIdle(clock)

    expect(await storage.runs.find(run.id, EVERY_ROW)).toMatchObject({
      status: 'completed',
      result: '[["a0",false,"expired",null]]',
    })
  })

  it('rejects a decision once the approval has expired', async () => {
    const { run, server } = await setUpRun(suspending(2, 1_000))
    const [approvalId = ''] = run.approvalIds
    await server.engine.advance(1_000)

    await expect(
      server.engine.resolveApproval({ approvalId, approved: false, by: 'bob', visibility: EVERY_ROW }),
    ).rejects.toMatchObject({ code: 'approval-resolved', message: expect.stringContaining('expired') })
  })
})
