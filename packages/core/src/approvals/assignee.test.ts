import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

const SCOPE = 'workflows:resume:payments'
const withScopes = (subject: string, ...scopes: readonly string[]) => ({ subject, scopes })
const RESOLVE = 'approvals:resolve'
const CALLERS = {
  owner: withScopes('alice', 'agents:invoke', `${RESOLVE}:own`),
  staff: withScopes('sam', 'agents:invoke', RESOLVE),
  payments: withScopes('pat', 'agents:invoke', RESOLVE, SCOPE),
  wider: withScopes('wim', 'agents:invoke', RESOLVE, 'workflows:*'),
  narrower: withScopes('nia', 'agents:invoke', RESOLVE, 'workflows:resume:parcels'),
  admin: withScopes('root', 'admin:*'),
}

const DECIDERS: readonly (readonly [string, readonly (keyof typeof CALLERS)[]])[] = [
  ['user', ['owner', 'admin']],
  ['staff', ['staff', 'payments', 'wider', 'narrower', 'admin']],
  [SCOPE, ['payments', 'wider', 'admin']],
]
const CASES = DECIDERS.flatMap(([assignee, deciders]) =>
  (Object.keys(CALLERS) as readonly (keyof typeof CALLERS)[]).map(
    (caller) => [assignee, caller, deciders.includes(caller)] as const,
  ),
)

const ASKS: Readonly<Record<string, (assignee: string) => (input: unknown, ctx: RunContext) => Promise<unknown>>> = {
  'ctx.approval': (assignee) => (_, ctx) => ctx.approval('refund', { assignee }),
  'ctx.tool': (assignee) => (_, ctx) => ctx.tool({ name: 'refund', approval: { assignee }, execute: () => 'paid' }),
  'ctx.suspend': (assignee) => async (_, ctx) =>
    ctx.resume === undefined ? ctx.suspend({ approvals: [{ name: 'refund', assignee }] }) : 'resumed',
}

/** A run of alice that waits for an approval. */
async function setUpRun(code: (input: unknown, ctx: RunContext) => Promise<unknown>) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const engine = createTestEngine({ storage, clock, ids: createSequenceIds(), agents: [agentOf('asks', code)] })
  await engine.start()
  const reply = engine.run('asks', undefined)
  await untilIdle(clock)
  const { runId, approvals = [] } = outcomeOf(await reply)
  const approvalId = approvals[0]?.id ?? ''
  const doors = {
    'the inbox': ({ subject, scopes }: { readonly subject: string; readonly scopes: readonly string[] }) =>
      engine.resolveApproval({ approvalId, approved: true, by: subject, scopes, visibility: EVERY_ROW }),
    'a resume': (principal: { readonly subject: string; readonly scopes: readonly string[] }) =>
      engine.resumeRun({
        ...{ runId, principal, visibility: EVERY_ROW, answer: 'accepted' },
        approvals: [{ id: approvalId, approved: true }],
      }),
  }
  const status = async () => (await storage.approvals.find(approvalId, EVERY_ROW))?.status
  return { doors, status, engine, storage, runId, approvalId }
}

describe.each(Object.entries(ASKS))('an approval of %s', (_, codeFor) => {
  it.each(CASES)('that is assigned to %s is decided by %s: %s', async (assignee, caller, isAllowed) => {
    for (const door of ['the inbox', 'a resume'] as const) {
      const { doors, status } = await setUpRun(codeFor(assignee))

      const decided = doors[door](CALLERS[caller])

      if (isAllowed) await decided
      else {
        await expect(decided).rejects.toMatchObject({
          code: 'approval-not-assigned',
          message: expect.stringContaining(`assigned to ${assignee}, not to ${CALLERS[caller].subject}`),
        })
      }
      expect(await status()).toBe(isAllowed ? 'approved' : 'pending')
    }
  })
})

describe('an assignee', () => {
  it('is shown by the approval and its event', async () => {
    const { engine, storage, runId, approvalId } = await setUpRun(ASKS['ctx.tool']!('staff'))

    expect(await engine.readApprovals.get(approvalId, EVERY_ROW)).toMatchObject({ assignee: 'staff' })
    const events = await storage.events.read({ runId }, { after: 0, limit: 99 })
    const asked = events.filter(({ type }) => type.endsWith('approval.requested'))
    expect(asked.map(({ payload }) => JSON.parse(payload).assignee)).toEqual(['staff', 'staff'])
  })

  it.each(['somebody', 'billing:approve', 'admin', ''])('is refused if no token can hold it (%s)', async (assignee) => {
    const storage = createInMemoryStorage()
    const engine = createTestEngine({ storage, agents: [agentOf('asks', ASKS['ctx.approval']!(assignee))] })
    await engine.start()

    expect(outcomeOf(await engine.run('asks'))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining("assignee must be 'user', 'staff' or a scope") },
    })
  })
})
