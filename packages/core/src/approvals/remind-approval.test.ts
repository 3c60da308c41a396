import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { ApprovalOptions } from '../durable/approvals/approval-options.ts'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import { createCrashingStorage } from '../engine-model/crashing-storage.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { createRemindApproval } from './remind-approval.ts'

type Ask = (options: ApprovalOptions) => (input: unknown, ctx: RunContext) => Promise<unknown>

const ASKS: Readonly<Record<string, Ask>> = {
  'ctx.approval': (options) => (_, ctx) => ctx.approval('pay', options),
  'ctx.tool': (options) => (_, ctx) => ctx.tool({ name: 'pay', approval: options, execute: () => 'paid' }),
  'ctx.suspend': (options) => async (_, ctx) =>
    ctx.resume === undefined ? ctx.suspend({ approvals: [{ name: 'pay', ...options }] }) : 'resumed',
}

const OPTIONS = { remindAfter: 1_000, assignee: 'user', escalateTo: 'staff' } as const

/** A run of alice that waits for an approval; servers can be opened on the same storage. */
async function setUpRun(options: ApprovalOptions, ask: Ask = ASKS['ctx.tool']!) {
  const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
  const { storage, clock } = shared
  const open = async (own: Storage = storage) => {
    const agents = [agentOf('pays', ask(options), { onCrash: 'retry' })]
    const engine = createTestEngine({ ...shared, storage: own, agents })
    await engine.recover()
    await engine.start()
    await untilIdle(clock)
    return engine
  }
  const crashing = createCrashingStorage(storage)
  const engine = await open(crashing.storage)
  const reply = engine.run('pays')
  await untilIdle(clock)
  const { runId, approvals = [] } = outcomeOf(await reply)
  const approvalId = approvals[0]?.id ?? ''
  return {
    ...{ engine, storage, clock, open, crashing, runId, approvalId },
    find: async () => storage.approvals.find(approvalId, EVERY_ROW),
    async told() {
      const events = await storage.events.read({ topic: 'approvals/events' }, { after: 0, limit: 99 })
      return events.map(({ type, payload }) => [type, JSON.parse(payload).assignee])
    },
    wait: async (ms: number) => {
      await engine.advance(ms)
      await untilIdle(clock)
    },
  }
}

const ASKED = ['approval.requested', 'user']
const REMINDED = [
  ['approval.reminder', 'user'],
  ['approval.escalated', 'staff'],
]

describe.each(Object.entries(ASKS))('a reminder of an approval of %s', (_, ask) => {
  it('is sent once when it is due, and assigns the approval to somebody else', async () => {
    const { wait, told, find, storage, runId } = await setUpRun(OPTIONS, ask)
    expect(await find()).toMatchObject({ assignee: 'user', escalateTo: 'staff', remindAt: expect.any(Number) })

    await wait(999)
    expect(await told()).toEqual([ASKED])
    await wait(1)
    expect(await told()).toEqual([ASKED, ...REMINDED])
    await wait(100_000)

    expect(await told()).toEqual([ASKED, ...REMINDED])
    expect(await find()).toMatchObject({ status: 'pending', assignee: 'staff' })
    expect(await find()).not.toHaveProperty('remindAt', expect.anything())
    expect((await storage.runs.find(runId, EVERY_ROW))?.status).toBe('suspended')
  })

  it('leaves the assignee without escalateTo', async () => {
    const { wait, told, find } = await setUpRun({ remindAfter: 1_000, assignee: 'user' }, ask)
    await wait(1_000)
    expect(await told()).toEqual([ASKED, REMINDED[0]])
    expect(await find()).toMatchObject({ assignee: 'user' })
  })

  it('is not sent after a decision', async () => {
    const { engine, wait, told, approvalId } = await setUpRun(OPTIONS, ask)
    await engine.resolveApproval({ approvalId, approved: true, by: 'alice', visibility: EVERY_ROW })
    await wait(1_000)
    expect((await told()).map(([type]) => type)).toEqual(['approval.requested', 'approval.resolved'])
  })

  it('is not sent after its run has ended', async () => {
    const { engine, wait, told, runId } = await setUpRun(OPTIONS, ask)
    await engine.abortRun({ runId, visibility: EVERY_ROW })
    await wait(1_000)
    expect((await told()).map(([type]) => type)).toEqual(['approval.requested', 'approval.expired'])
  })
})

describe('a reminder', () => {
  it('changes who may decide', async () => {
    const { engine, wait, approvalId } = await setUpRun(OPTIONS)
    const decide = (by: string, ...scopes: readonly string[]) =>
      engine.resolveApproval({ approvalId, approved: true, by, scopes, visibility: EVERY_ROW })

    await expect(decide('sam', 'approvals:resolve')).rejects.toMatchObject({ code: 'approval-not-assigned' })
    await wait(1_000)
    await expect(decide('alice', 'approvals:resolve:own')).rejects.toMatchObject({ code: 'approval-not-assigned' })
    await decide('sam', 'approvals:resolve')
  })

  it.each([0, 1])('is sent once if the server crashes with %i commits before it', async (commits) => {
    const { engine, crashing, clock, open, told } = await setUpRun(OPTIONS)
    crashing.crashAfter(commits)
    await engine.advance(1_000)
    await untilIdle(clock)
    await open()
    clock.advance(5_000)
    await untilIdle(clock)

    expect(await told()).toEqual([ASKED, ...REMINDED])
  })

  it('is sent at the next start if it became due while no server ran', async () => {
    const { crashing, clock, open, told } = await setUpRun(OPTIONS)
    crashing.crashAfter(0)
    clock.advance(5_000)
    await open()
    expect(await told()).toEqual([ASKED, ...REMINDED])
  })

  it('is sent by one of two servers that find it due at the same time', async () => {
    const { storage, clock, find, told } = await setUpRun(OPTIONS)
    const remind = createRemindApproval({ ...storage, clock })
    const approval = await find()

    await Promise.all([remind(approval!), remind(approval!), remind(approval!)])

    expect(await told()).toEqual([ASKED, ...REMINDED])
  })

  it('tells nothing about a run that ends at the same time', async () => {
    const { storage, clock, find, told, runId } = await setUpRun(OPTIONS)
    let isEnded = false
    const commit: Storage['unitOfWork']['commit'] = async (writes) => {
      if (!isEnded) {
        isEnded = true
        const change = { status: 'aborted', finishReason: 'aborted', completedAt: clock.now() } as const
        await storage.unitOfWork.commit([{ type: 'run.transition', runId, from: ['suspended'], attempt: 1, change }])
      }
      return storage.unitOfWork.commit(writes)
    }
    await createRemindApproval({ ...storage, unitOfWork: { commit }, clock })((await find())!)

    expect(await told()).toEqual([ASKED])
    expect(await find()).not.toHaveProperty('remindAt', expect.anything())
  })

  it.each<[string, ApprovalOptions, string]>([
    ['a reminder after the timeout', { remindAfter: '2h', timeout: '1h' }, 'remindAfter must be shorter than timeout'],
    ['an escalation without a reminder', { escalateTo: 'staff' }, 'escalateTo needs remindAfter'],
    ['an escalation to an unknown scope', { remindAfter: 1, escalateTo: 'boss' }, "escalateTo must be 'user'"],
    ['a reminder that is no duration', { remindAfter: 'soon' as never }, 'remindAfter must be'],
  ])('is refused as %s', async (_, options, message) => {
    const { storage, runId } = await setUpRun(options)
    expect((await storage.runs.find(runId, EVERY_ROW))?.error?.message).toContain(message)
  })
})
