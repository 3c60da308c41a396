import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { RunContext } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger, Storage } from '@perdure/ports'
import { openPostgresStorage } from '@perdure/postgres'
import type { ServerConfigInput } from '@perdure/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const ADMIN = { subject: 'ops', scopes: ['admin:*'] }
const USER_SCOPES = ['agents:invoke', 'runs:read:own', 'sessions:write:own', 'sessions:read:own']
const user = (subject: string) => ({ subject, scopes: USER_SCOPES })

type PerSubject = NonNullable<NonNullable<ServerConfigInput['runs']>['perSubject']>

async function start(perSubject: PerSubject, storage: Storage = createInMemoryStorage()) {
  process.env.TEST_PEPPER = 'x'.repeat(32)
  const server = await createServer({
    config: { auth: { pepperRef: 'env:TEST_PEPPER' }, runs: { perSubject } },
    adapters: { storage, logger },
    agents: [
      { id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input: unknown) => input } },
      {
        id: 'paid',
        description: 'Costs a dollar, of which its child costs a half.',
        agent: {
          id: 'paid',
          async run(input: unknown, { usage, invoke }: RunContext) {
            await usage({ provider: 'test', model: 'test', costUsd: 0.5 })
            if (input !== 'half') await invoke('paid', 'half')
          },
        },
      },
      {
        id: 'waits',
        description: 'Waits for the event go.',
        agent: { id: 'waits', run: (_: unknown, { waitForEvent }: RunContext) => waitForEvent('go') },
      },
      {
        id: 'slow',
        description: 'Ends when it is aborted.',
        agent: {
          id: 'slow',
          run: (_: unknown, { signal }: RunContext) =>
            new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        },
      },
    ],
  })
  onTestFinished(() => server.stop({ force: true }))
  await server.start({ listen: false })
  const as = (subject: string) => server.client(user(subject))
  const usageOf = (subject: string) => server.client(ADMIN).subjects.usage(subject)
  /** Sends the request to run an agent as the user, and returns the answer. */
  const run = (subject: string, agent = 'echo', headers: Record<string, string> = {}) =>
    server.fetch(
      new Request(`http://localhost/v1/agents/${agent}/run`, {
        ...{ method: 'POST', body: '{"input":"hi"}' },
        headers: { 'content-type': 'application/json', prefer: 'respond-async', ...headers },
      }),
      { as: user(subject) },
    )
  return { server, as, run, usageOf, storage }
}

const bodyOf = async (answer: Promise<Response> | Response) => (await (await answer).json()) as Record<string, unknown>
const untilIdle = async (usageOf: Awaited<ReturnType<typeof start>>['usageOf'], subject: string) => {
  while ((await usageOf(subject)).activeRuns.used > 0) await pause(5)
}

describe('runs.perSubject', () => {
  it('refuses a run over the runs of a day until the next UTC day, and states which limit', async () => {
    const { run } = await start({ maxPerDay: 2 })
    for (const _ of [1, 2]) expect((await run('alice')).status).toBe(202)

    const refused = await run('alice')

    expect(refused.status).toBe(429)
    const left = 86_400 - ((Date.now() / 1_000) % 86_400)
    expect(Math.abs(Number(refused.headers.get('retry-after')) - left)).toBeLessThan(5)
    expect(await bodyOf(refused)).toMatchObject({
      error: 'quota-exceeded',
      message: 'the caller has started 2 runs today, and the limit is 2 (runs.perSubject.maxPerDay)',
    })
    expect((await run('bob')).status).toBe(202)
  })

  it('refuses a run over the runs at once, and admits it when one of them has ended', async () => {
    const { run, as, server } = await start({ maxActive: 1 })
    const { runId } = await bodyOf(run('alice', 'slow'))

    const refused = await run('alice')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await bodyOf(refused)).message).toContain('runs.perSubject.maxActive')
    await server.client(ADMIN).runs.abort(String(runId), {})
    expect((await as('host:alice').runs.get(String(runId))).status).toBe('aborted')

    expect((await run('alice')).status).toBe(202)
  })

  it('does not count suspended runs as active, and never refuses to resume one', async () => {
    const { run, server, usageOf } = await start({ maxActive: 1 })
    await run('alice', 'waits')
    await untilIdle(usageOf, 'host:alice')
    const { runId } = await bodyOf(run('alice', 'slow'))

    await server.client(ADMIN).events.emit('go', {})
    await server.client(ADMIN).runs.abort(String(runId), {})
    await untilIdle(usageOf, 'host:alice')

    const { items } = await server.client(ADMIN).runs.list({ status: 'completed' })
    expect(items.map((item) => item.agentId)).toEqual(['waits'])
  })

  it('refuses a run once the runs of the day have cost the limit, counting the cost of children once', async () => {
    const { run, usageOf } = await start({ maxUsdCentsPerDay: 150 })
    for (const _ of [1, 2]) {
      expect((await run('alice', 'paid')).status).toBe(202)
      await untilIdle(usageOf, 'host:alice')
    }

    expect(await usageOf('host:alice')).toMatchObject({
      costUsdToday: { used: 2, limit: 1.5 },
      runsToday: { used: 2, limit: null },
    })
    expect((await bodyOf(run('alice'))).message).toBe(
      'the runs of today have cost the caller 2.00 USD, and the limit is 1.50 (runs.perSubject.maxUsdCentsPerDay)',
    )
  })

  it('returns the stored answer to a repeated key also when the quota is used up', async () => {
    const { run } = await start({ maxPerDay: 1 })
    const key = { 'idempotency-key': 'one' }
    const first = await bodyOf(run('alice', 'echo', key))

    expect((await bodyOf(run('alice', 'echo', key))).runId).toBe(first.runId)
    expect((await bodyOf(run('alice', 'echo', { 'idempotency-key': 'two' }))).error).toBe('quota-exceeded')
  })

  it('counts repetitions, and what was deleted', async () => {
    const { server, usageOf, as } = await start({ maxPerDay: 2 })
    const alice = as('alice')
    const { runId, sessionId } = await alice.agents.run('echo', { input: 1, sessionId: 'ses_of_alice' })
    await alice.runs.rerun(runId, {})
    await untilIdle(usageOf, 'alice')
    await alice.sessions.delete(sessionId ?? '')

    await expect(alice.agents.run('echo', { input: 1 })).rejects.toMatchObject({ code: 'quota-exceeded' })
    expect((await server.client(ADMIN).runs.list()).items).toEqual([])
    expect((await usageOf('alice')).runsToday).toEqual({ used: 2, limit: 2 })
  })

  it('skips the fire of a trigger whose owner has used up the quota', async () => {
    const { server } = await start({ maxPerDay: 1 })
    const owner = server.client({ subject: 'alice', scopes: ['admin:*'] })
    await owner.triggers.create({
      ...{ id: 'bell', kind: 'event', event: 'ring' },
      target: { agentId: 'echo', input: 1 },
    })
    await owner.agents.run('echo', { input: 1 })

    await owner.events.emit('ring', {})

    let fires = (await owner.triggers.fires('bell')).items
    while (fires[0] === undefined || fires[0].status === 'pending') {
      await pause(5)
      fires = (await owner.triggers.fires('bell')).items
    }
    expect(fires[0]).toMatchObject({ status: 'skipped', reason: expect.stringContaining('quota-exceeded') })
  })

  it('admits exactly as many concurrent runs as the limit allows', async () => {
    const { run, usageOf } = await start({ maxPerDay: 5 })

    const answers = await Promise.all(Array.from({ length: 20 }, () => run('alice')))

    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5)
    expect((await usageOf('host:alice')).runsToday).toEqual({ used: 5, limit: 5 })
  })
})

needsTool('PostgreSQL').describe('runs.perSubject on two servers with one schema', () => {
  it('counts the runs of both, and those of a server that has stopped', async () => {
    const url = await sharedPostgres()
    const schema = `quota_${randomUUID().replaceAll('-', '').slice(0, 16)}`
    const open = async () => {
      const storage = await openPostgresStorage({ url, schema, cluster: true })
      onTestFinished(() => storage.close())
      return start({ maxPerDay: 7 }, storage)
    }
    const [one, other] = [await open(), await open()]

    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? one : other).run('alice', 'slow')),
    )

    const refused = answers.filter(({ status }) => status === 429)
    expect([answers.filter(({ status }) => status === 202).length, refused.length]).toEqual([7, 23])
    await one.server.stop({ force: true })
    expect((await other.run('alice')).status).toBe(429)
    expect((await other.usageOf('host:alice')).runsToday).toEqual({ used: 7, limit: 7 })
  })
})

describe('GET /subjects/:subject/usage', () => {
  it('shows the caller its own usage, and that of others only with subjects:read', async () => {
    const { as, server } = await start({ maxActive: 3 })
    await as('alice').agents.run('echo', { input: 1 })

    const own = await as('alice').subjects.usage('alice')
    expect(own).toMatchObject({
      subject: 'alice',
      day: new Date().toISOString().slice(0, 10),
      activeRuns: { used: 0, limit: 3 },
      runsToday: { used: 1, limit: null },
      costUsdToday: { used: 0, limit: null },
      fileBytes: { used: 0, limit: 1_073_741_824 },
    })
    await expect(as('bob').subjects.usage('alice')).rejects.toMatchObject({ code: 'scope-denied' })
    const reader = server.client({ subject: 'reader', scopes: ['subjects:read'] })
    expect(await reader.subjects.usage('alice')).toEqual(own)
    expect((await reader.subjects.usage('jwt:app:nobody')).runsToday.used).toBe(0)
    await expect(reader.subjects.usage('a b')).rejects.toMatchObject({ code: 'validation-failed' })
  })
})
