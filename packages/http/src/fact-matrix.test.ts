import type { AgentRegistration, RunContext } from '@perdure/core'
import { EVERY_ROW } from '@perdure/ports'
import { changesState, OPERATIONS, type Operation, RPC_METHODS } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { bearer, createTestApp, post } from './app.fixture.ts'
import { FACTS, type Fact, type Path, type Waiting } from './fact.fixture.ts'
import { PATHS, RPC_PATHS } from './fact-paths.fixture.ts'
import { toRequest } from './operation-request.fixture.ts'

const WAITS: Readonly<Record<Fact, (ctx: RunContext, asked: { readonly assignee?: string }) => Promise<unknown>>> = {
  decision: async (ctx, asked) => (await ctx.approval('pay', asked)).approved,
  event: (ctx) => ctx.waitForEvent('paid'),
  tool: (ctx) => ctx.clientTool({ name: 'pick', toolCallId: 'pick' }),
  child: (ctx) => ctx.invoke('asking'),
  resumption: async (ctx) => ctx.resume?.payload,
}

/** A server with one agent for each fact, which acts once it has learned the fact. */
function setUp(asked: { readonly assignee?: string } = {}) {
  const state = { isDown: false }
  const acted: string[] = []
  const runOf =
    (fact: Fact) =>
    async (_: unknown, ctx: RunContext): Promise<unknown> => {
      if (fact === 'resumption' && ctx.resume === undefined) return ctx.suspend({})
      const learned = await WAITS[fact](ctx, asked)
      if (learned === false) return 'denied'
      return ctx.step('act', () => {
        if (state.isDown) throw new Error('down')
        acted.push(ctx.runId)
      })
    }
  const agents: AgentRegistration[] = FACTS.map((id) => ({ id, description: '', agent: { id, run: runOf(id) } }))
  agents.push({ id: 'asking', description: '', agent: { id: 'asking', run: (_, ctx) => ctx.approval('pay') } })
  const workflows = (['event', 'resumption'] as const).map((id) => ({
    ...{ id, description: '' },
    workflow: { id, execute: runOf(id) },
  }))
  const { app, manage, storage, clock } = createTestApp({ auth: 'token', agents, workflows })

  const settle = async () => {
    for (let turn = 0; turn < 30; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(0)
    }
  }
  const send = async (request: Request) => {
    const sending = app.fetch(request)
    await settle()
    const response = await sending
    return { status: response.status, text: await response.text() }
  }
  const as = async (scopes: readonly string[]) => {
    const { token } = await manage.mint({ name: 'm', scopes: [...scopes], subject: 'alice' }, 'test')
    return ([path, body]: readonly [string, object]) => send(post(path, body, bearer(token)))
  }
  /** Starts a run that waits for the fact. */
  const waitingFor = async (fact: Fact, start?: Path['start']): Promise<Waiting> => {
    const admin = await as(['admin:*'])
    const before = new Set((await allRuns()).map(({ id }) => id))
    await admin(start?.(fact) ?? [`/agents/${fact}/stream`, {}])
    const run = (await allRuns()).find(({ id, targetId }) => !before.has(id) && targetId === fact)
    const { items } = await storage.approvals.list({ status: 'pending' }, { limit: 1, order: 'desc' }, EVERY_ROW)
    expect(run).toMatchObject({ status: 'suspended' })
    return { runId: run?.id ?? '', threadId: run?.threadId ?? '', approvalId: items[0]?.id ?? '' }
  }
  const allRuns = async () => (await storage.runs.list({}, { limit: 200, order: 'desc' }, EVERY_ROW)).items

  /** Brings the fact to the run by the route of this server's API. */
  const bring = async (fact: Fact, { runId, approvalId }: Waiting) => {
    const admin = await as(['admin:*'])
    const requests: Readonly<Record<Fact, readonly [string, object]>> = {
      decision: [`/approvals/${approvalId}/resolve`, { approved: true }],
      event: ['/events/paid', {}],
      tool: [`/runs/${runId}/resume`, { toolResults: [{ toolCallId: 'pick' }] }],
      child: [`/approvals/${approvalId}/resolve`, { approved: true }],
      resumption: [`/runs/${runId}/resume`, {}],
    }
    await admin(requests[fact])
  }
  return { acted, state, as, send, manage, waitingFor, bring }
}

const CELLS = Object.entries(PATHS).flatMap(([id, paths]) =>
  Object.entries(paths).map(([fact, path]) => [id, fact as Fact, path as Path] as const),
)

/** Everything that decides an approval. */
const DECISIONS = CELLS.filter(([, fact, { repeats }]) => fact === 'decision' && repeats !== true)

const without = (needs: readonly string[], one: string) => needs.filter((other) => other !== one)

describe('a fact that comes from outside', () => {
  it.each(CELLS)('is brought by %s, as a %s, only by a caller with every scope it needs', async (_, fact, path) => {
    const { acted, state, as, waitingFor, bring } = setUp()
    const waiting = await waitingFor(fact, path.start)
    if (path.repeats === true) {
      state.isDown = true
      await bring(fact, waiting)
      state.isDown = false
    }
    const request = path.send(waiting)

    for (const missing of path.needs) {
      const { status, text } = await (await as([...without(path.needs, missing), 'memory:read']))(request)
      expect(acted, `${missing}: ${status} ${text}`).toEqual([])
    }
    const { status, text } = await (await as(path.needs))(request)
    expect(acted, `${status} ${text}`).toHaveLength(1)
  })

  it.each(DECISIONS)('is not brought by %s, as a %s, to an approval of somebody else', async (_, fact, path) => {
    const assignee = 'workflows:resume:payments'
    const { acted, as, waitingFor } = setUp({ assignee })
    const waiting = await waitingFor(fact, path.start)
    const request = path.send(waiting)

    const { status, text } = await (await as(path.needs))(request)
    expect(acted, `${status} ${text}`).toEqual([])
    expect(text).toContain('approval-not-assigned')

    await (await as([...path.needs, assignee]))(request)
    expect(acted).toHaveLength(1)
  })

  it.each(CELLS)('is brought by %s, as a %s, by scopes that its row names', (id, _, { needs }) => {
    const { scope, mayNeed = [] } = OPERATIONS.find((operation) => operation.id === id) ?? {}
    const named = JSON.stringify([scope, mayNeed])

    expect(needs.filter((need) => !named.includes(`"${need}:`))).toEqual([])
  })

  it.each(FACTS)('is not brought by any other operation: %s', async (fact) => {
    const { acted, send, manage, waitingFor } = setUp()
    const { token } = await manage.mint({ name: 'm', scopes: ['admin:*'], subject: 'alice' }, 'test')
    // What a child learns can also end it.
    const brought: readonly Fact[] = fact === 'child' ? FACTS : [fact]
    const others = OPERATIONS.filter(({ id }) => !brought.some((other) => other in PATHS[id as keyof typeof PATHS]))

    for (const operation of others) {
      const waiting = await waitingFor(fact)
      for (const id of [waiting.runId, waiting.approvalId, waiting.threadId, 'paid', 'pick'])
        if (id !== '') await send(toRequest(operation, { headers: bearer(token), id, agentId: fact }))
      expect(acted, operation.id).toEqual([])
    }
  })

  it('is never brought by a read or by a method of WebSocket connections', () => {
    const reads = OPERATIONS.filter((operation: Operation) => !changesState(operation))

    expect(reads.filter(({ id }) => Object.keys(PATHS[id as keyof typeof PATHS]).length > 0)).toEqual([])
    expect(Object.keys(RPC_PATHS)).toEqual(Object.keys(RPC_METHODS))
    expect(Object.values(RPC_PATHS).flatMap((paths) => Object.keys(paths))).toEqual([])
  })
})
