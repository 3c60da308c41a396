import { setTimeout as pause } from 'node:timers/promises'
import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'
import { ISSUERS, jwtOf, startJwtServer } from './jwt-server.fixture.ts'

const PLAN = 'canary-plan-7f3a'
const ADMIN = { subject: 'ops', scopes: ['admin:*'] }
const alice = {
  subject: 'alice',
  scopes: ['agents:invoke', 'workflows:execute', 'runs:read:own', 'triggers:write', 'triggers:fire'],
  name: 'Alice',
  claims: { plan: PLAN },
}
const OF_ALICE = { subject: 'host:alice', name: 'Alice', claims: { plan: PLAN } }

type Seen = Record<string, RunContext['caller'][]>

/** A server whose targets note the caller of each execution under their id. */
async function startNoting() {
  const seen: Seen = {}
  const lines: string[] = []
  const line = (...args: unknown[]) => void lines.push(JSON.stringify(args))
  const logger: Logger = { debug: line, info: line, warn: line, error: line }
  const note = (id: string, context: RunContext) => {
    seen[id] = [...(seen[id] ?? []), context.caller]
    context.log.info('noted')
  }
  process.env.TEST_PEPPER = 'x'.repeat(32)
  const agents = [
    {
      id: 'child',
      description: 'Notes its caller.',
      agent: { id: 'child', run: async (_: unknown, context: RunContext) => note('child', context) },
    },
    {
      id: 'parent',
      description: 'Waits, and calls a child.',
      agent: {
        id: 'parent',
        async run(_: unknown, context: RunContext) {
          note('parent', context)
          await context.waitForEvent('go')
          await context.invoke('child')
          return 'done'
        },
      },
    },
    {
      id: 'late',
      description: 'Combines requests.',
      debounce: { period: 100, key: 'owner' } as const,
      agent: { id: 'late', run: async (_: unknown, context: RunContext) => note('late', context) },
    },
  ]
  const server = await createServer({
    config: { auth: { pepperRef: 'env:TEST_PEPPER' }, audit: { events: 'all' }, log: { level: 'debug' } },
    adapters: { storage: createInMemoryStorage(), logger },
    agents,
  })
  onTestFinished(() => server.stop({ force: true }))
  await server.start({ listen: false })
  const outcome = async (runId: string) => {
    for (;;) {
      const run = await server.client(ADMIN).runs.get(runId)
      if (run.status === 'completed') return run
      if (['failed', 'aborted'].includes(run.status)) throw new Error(JSON.stringify(run))
      await pause(5)
    }
  }
  /** Every event of the run, as its stream sends them. */
  const eventsOf = async (runId: string) => {
    const headers = { accept: 'text/event-stream', 'last-event-id': '0' }
    const url = `http://localhost/v1/runs/${runId}/events`
    const answer = await server.fetch(new Request(url, { headers }), { as: ADMIN })
    let text = ''
    for await (const bytes of answer.body ?? []) {
      text += new TextDecoder().decode(bytes)
      if (text.includes('run.completed')) break
    }
    return text
  }
  return { server, seen, lines, outcome, eventsOf }
}

describe('ctx.caller', () => {
  it('has the claims of a JWT that the configuration lets through', async () => {
    const callers: RunContext['caller'][] = []
    const jwt = ISSUERS.map((issuer) => ({ ...issuer, claims: ['plan', 'name'] }))
    const { call } = await startJwtServer({
      config: { auth: { jwt } },
      onRun: (context) => void callers.push(context.caller),
    })

    await call(jwtOf({ plan: 'pro', name: 'Alice', email: 'a@b.test' }), '/agents/inspect/run', { body: {} })
    await call(jwtOf({ sub: 'bob' }), '/agents/inspect/run', { body: {} })

    expect(callers).toEqual([
      { subject: 'jwt:app:alice', name: 'Alice', claims: { plan: 'pro', name: 'Alice' } },
      { subject: 'jwt:app:bob', name: undefined, claims: {} },
    ])
  })

  it('is the same in every execution of a run and in its children', async () => {
    const { server, seen, outcome } = await startNoting()

    const { runId } = await server.client({ ...alice, subject: 'host:alice' }).agents.run('parent', { input: 1 })
    await server.client(ADMIN).events.emit('go', {})
    await outcome(runId)

    expect(seen.parent?.length).toBeGreaterThan(1)
    for (const caller of [...(seen.parent ?? []), ...(seen.child ?? [])]) expect(caller).toEqual(OF_ALICE)
    expect(seen.child).toHaveLength(1)
  })

  it('has what the host states with a request, and with a token that it issues', async () => {
    const { server, seen } = await startNoting()
    const request = (headers = {}) =>
      new Request('http://localhost/v1/agents/child/run', {
        ...{ method: 'POST', body: '{"input":1}' },
        headers: { 'content-type': 'application/json', ...headers },
      })
    const { token } = await server.issueToken({ ...alice, claims: { plan: 'free' }, expiresIn: '1m' })

    expect((await server.fetch(request(), { as: alice })).status).toBe(200)
    expect((await server.fetch(request({ authorization: `Bearer ${token}` }))).status).toBe(200)

    expect(seen.child).toEqual([OF_ALICE, { ...OF_ALICE, claims: { plan: 'free' } }])
  })

  it('is kept by a token that replaces another one', async () => {
    const { server, seen } = await startNoting()
    const { token } = await server.issueToken({ ...alice, expiresIn: '1m' })
    const { items } = await server.client(ADMIN).tokens.list()
    const rotated = await server.client(ADMIN).tokens.rotate(items[0]?.id ?? '', {})
    expect(rotated.token).not.toBe(token)

    await server.fetch(
      new Request('http://localhost/v1/agents/child/run', {
        ...{ method: 'POST', body: '{"input":1}' },
        headers: { 'content-type': 'application/json', authorization: `Bearer ${rotated.token}` },
      }),
    )

    expect(seen.child).toEqual([OF_ALICE])
  })

  it('is that of whoever asks for a repetition', async () => {
    const { server, seen, outcome } = await startNoting()
    const { runId } = await server.client({ ...alice, subject: 'host:alice' }).agents.run('child', { input: 1 })
    await outcome(runId)

    const rerun = await server.client(ADMIN).runs.rerun(runId, {})
    await outcome(rerun.runId)

    expect(seen.child).toEqual([OF_ALICE, { subject: 'ops', name: undefined, claims: {} }])
  })

  it('has no claims in a run of a trigger, whoever fires it', async () => {
    const { server, seen, outcome } = await startNoting()
    const client = server.client({ ...alice, subject: 'host:alice', scopes: ['admin:*'] })
    const { id } = await client.triggers.create({
      ...{ id: 'nightly', kind: 'cron', cron: '0 3 1 1 *' },
      target: { agentId: 'child', input: 1 },
    })
    const { runId } = await client.triggers.fire(id, {})
    await outcome(runId)

    expect(seen.child).toEqual([{ subject: 'host:alice', name: undefined, claims: {} }])
  })

  it('is that of the last of the requests that are combined into one run', async () => {
    const { server, seen, outcome } = await startNoting()
    const start = (claims: Record<string, unknown> | undefined) =>
      server
        .client({
          ...alice,
          subject: 'host:alice',
          ...(claims === undefined ? { name: undefined, claims } : { claims }),
        })
        .agents.run('late', { input: 1 }, { prefer: 'respond-async' } as never)

    const first = start({ plan: 'free' })
    await pause(20)
    const last = start(undefined)
    const { runId } = await first
    expect((await last).runId).toBe(runId)
    await outcome(runId)

    expect(seen.late).toEqual([{ subject: 'host:alice', name: undefined, claims: {} }])
  })

  it('appears in no answer, event, audit entry or log line', async () => {
    const { server, lines, outcome, eventsOf } = await startNoting()
    const { runId } = await server.client({ ...alice, subject: 'host:alice' }).agents.run('parent', { input: 1 })
    await server.client(ADMIN).events.emit('go', {})
    await outcome(runId)
    await server.issueToken({ ...alice, expiresIn: '1m' })
    const admin = server.client(ADMIN)

    const shown = JSON.stringify([
      await admin.runs.get(runId),
      await admin.runs.list(),
      await admin.runs.state(runId),
      await admin.runs.logs(runId),
      await admin.runs.receipt(runId),
      await eventsOf(runId),
      await admin.tokens.list(),
      await admin.audit.list(),
      await server.client(alice).runs.list(),
    ])
    expect(shown).toContain('run.completed')
    expect(shown).not.toContain(PLAN)
    expect(lines.join('\n')).toContain('noted')
    expect(lines.join('\n')).not.toContain(PLAN)
  })

  it.each([
    [{ claims: { text: 'x'.repeat(4_097) } }, 'more than 4096 bytes'],
    [{ claims: [1] as never }, 'claims must be an object'],
    [{ name: '' }, 'name must be'],
  ])('is refused with a message that names the member: %#', async (facts, message) => {
    const { server } = await startNoting()
    const request = new Request('http://localhost/v1/runs')

    await expect(server.fetch(request, { as: { ...alice, ...facts } })).rejects.toThrow(message)
    await expect(server.issueToken({ ...alice, ...facts, expiresIn: '1m' })).rejects.toThrow(message)
  })
})
