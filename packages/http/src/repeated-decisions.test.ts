import type { AgentRegistration, RunContext } from '@perdure/core'
import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { bearer, bodyOf, createTestApp, post } from './app.fixture.ts'

interface Order {
  readonly amount: number
}

const agentOf = (id: string, run: (order: Order, ctx: RunContext) => Promise<unknown>): AgentRegistration => ({
  id,
  description: '',
  agent: { id, run: (input, ctx) => run(input as Order, ctx) },
})

/** Agents that act once a person, or a service, has allowed it. `effects` lists what they have done. */
function setUp() {
  const effects: string[] = []
  const act = (effect: string) => {
    effects.push(effect)
    return effect
  }
  const transfer = ({ step }: RunContext, amount: unknown) => step('transfer', () => act(`TRANSFER ${amount}`))
  const agents = [
    agentOf('quoted', async (order, ctx) => {
      const amount = await ctx.step('quote', () => order.amount)
      const { approved } = await ctx.approval('pay', { title: 'Pay?', payload: { amount } })
      return approved ? transfer(ctx, amount) : 'denied'
    }),
    agentOf('direct', async ({ amount }, ctx) => {
      const { approved } = await ctx.approval('pay', { payload: { amount } })
      return approved ? transfer(ctx, amount) : 'denied'
    }),
    agentOf('tool', async ({ amount }, ctx) =>
      ctx.tool({ name: 'pay', args: { amount }, approval: true, execute: () => act(`TRANSFER ${amount}`) }),
    ),
    agentOf('shipping', async (_, ctx) => {
      const paid = await ctx.waitForEvent('paid')
      return ctx.step('ship', () => act(`SHIP ${JSON.stringify(paid)}`))
    }),
    agentOf('parent', async (order, ctx) => {
      const { approved } = (await ctx.invoke('asking', order)) as { approved: boolean }
      return approved ? transfer(ctx, order.amount) : 'denied'
    }),
    agentOf('asking', async ({ amount }, ctx) => ctx.approval('pay', { payload: { amount } })),
  ]
  const { app, manage, storage, clock } = createTestApp({ auth: 'token', agents })

  const as = async (subject: string, ...scopes: string[]) => {
    const { token } = await manage.mint({ name: subject, scopes, subject }, 'test')
    return async (path: string, body: unknown) => {
      const response = await app.fetch(post(path, body, bearer(token)))
      await settle()
      return { status: response.status, body: await bodyOf(response) }
    }
  }
  /** Runs everything that is due now. */
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(0)
    }
  }
  const pendingIn = async (runId: string) => {
    const { items } = await storage.approvals.list({ runId, status: 'pending' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    return items
  }
  const start = async (caller: Awaited<ReturnType<typeof as>>, agent: string, amount: number) => {
    const { body } = await caller(`/agents/${agent}/stream`, { input: { amount } })
    return String(body.runId)
  }
  const approve = async (caller: Awaited<ReturnType<typeof as>>, runId: string) => {
    const [asked] = await pendingIn(runId)
    expect(await caller(`/approvals/${asked?.id}/resolve`, { approved: true })).toMatchObject({ status: 200 })
  }
  return { as, effects, start, approve, pendingIn, storage }
}

const DENIED = { status: 403, body: { error: 'scope-denied' } }

describe('a run that acted on a decision', () => {
  it('is not repeated behind the decision by a caller that may only start its agent', async () => {
    const { as, effects, start, approve } = setUp()
    const alice = await as('alice', 'agents:invoke')
    const runId = await start(alice, 'quoted', 10)
    await approve(await as('boss', 'approvals:resolve'), runId)
    expect(effects).toEqual(['TRANSFER 10'])

    const fork = `/runs/${runId}/fork`
    expect(await alice(fork, { from: { seq: 3 }, results: { 1: 1_000_000 } })).toMatchObject(DENIED)
    expect(await alice(fork, { from: { seq: 3 } })).toMatchObject(DENIED)
    expect(await alice(fork, { from: { seq: 2 }, results: { 1: 1_000_000 } })).toMatchObject(DENIED)
    expect(await alice(`/runs/${runId}/retry`, {})).toMatchObject(DENIED)
    expect(effects).toEqual(['TRANSFER 10'])
  })

  it.each(['direct', 'tool'])('does not lend its decision to other arguments: %s', async (agent) => {
    const { as, effects, start, approve, pendingIn } = setUp()
    const alice = await as('alice', 'agents:invoke')
    const runId = await start(alice, agent, 10)
    await approve(await as('boss', 'approvals:resolve'), runId)
    expect(effects).toEqual(['TRANSFER 10'])

    const request = { from: { seq: 2 }, input: { amount: 5_000_000 } }
    expect(await alice(`/runs/${runId}/fork`, request)).toMatchObject(DENIED)
    const boss = await as('boss', 'agents:invoke', 'runs:read', 'runs:repair', 'approvals:resolve')
    const { status, body } = await boss(`/runs/${runId}/fork`, request)

    expect(status).toBe(202)
    expect(effects).toEqual(['TRANSFER 10'])
    expect(await pendingIn(String(body.runId))).toHaveLength(1)
    await approve(boss, String(body.runId))
    expect(effects).toEqual(['TRANSFER 10', 'TRANSFER 5000000'])
  })

  it('lends its decision to no fork of a caller that may repair runs but not decide', async () => {
    const { as, effects, start, approve, pendingIn } = setUp()
    const operator = await as('op', 'agents:invoke', 'runs:read', 'runs:repair')
    const runId = await start(operator, 'quoted', 10)
    const boss = await as('boss', 'approvals:resolve')
    await approve(boss, runId)

    const forks = await Promise.all([1, 2, 3].map(() => operator(`/runs/${runId}/fork`, { from: { seq: 3 } })))
    const nested = await operator(`/runs/${forks[0]?.body.runId}/fork`, { from: { seq: 2 } })
    expect(nested).toMatchObject({ status: 202 })

    for (const { body } of [...forks, nested]) expect(await pendingIn(String(body.runId))).toHaveLength(1)
    expect(effects).toEqual(['TRANSFER 10'])
    await approve(boss, String(forks[0]?.body.runId))
    expect(effects).toEqual(['TRANSFER 10', 'TRANSFER 10'])
  })

  it('does not lend the decision that one of its children has asked for', async () => {
    const { as, effects, start, approve, storage } = setUp()
    const operator = await as('op', 'agents:invoke', 'runs:read', 'runs:repair')
    const runId = await start(operator, 'parent', 10)
    const [call] = await storage.steps.list(runId)
    await approve(await as('boss', 'approvals:resolve'), call?.childRunId ?? '')
    expect(effects).toEqual(['TRANSFER 10'])

    expect(await operator(`/runs/${runId}/fork`, { from: { seq: 2 } })).toMatchObject(DENIED)
    const decider = await as('op', 'agents:invoke', 'runs:read', 'runs:repair', 'approvals:resolve')
    const first = await decider(`/runs/${runId}/fork`, { from: { seq: 2 } })
    expect(first).toMatchObject({ status: 202 })
    expect(await operator(`/runs/${first.body.runId}/fork`, { from: { seq: 2 } })).toMatchObject(DENIED)
    expect(effects).toEqual(['TRANSFER 10', 'TRANSFER 10'])
  })
})

describe('a run that waited for an event', () => {
  it('takes the payload of the event from nobody but its sender', async () => {
    const { as, effects, start } = setUp()
    const alice = await as('alice', 'agents:invoke')
    const runId = await start(alice, 'shipping', 0)
    expect(await alice('/events/paid', { payload: { amount: 999 } })).toMatchObject(DENIED)
    await (await as('shop', 'events:emit'))('/events/paid', { payload: { amount: 1 } })
    expect(effects).toEqual(['SHIP {"amount":1}'])

    const forged = { from: { seq: 2 }, results: { 1: { amount: 999, forged: true } } }
    expect(await alice(`/runs/${runId}/fork`, forged)).toMatchObject(DENIED)
    const operator = await as('op', 'agents:invoke', 'runs:read', 'runs:repair')
    expect(await operator(`/runs/${runId}/fork`, forged)).toMatchObject({
      ...{ status: 400, body: { error: 'validation-failed' } },
    })
    expect(effects).toEqual(['SHIP {"amount":1}'])
  })
})
