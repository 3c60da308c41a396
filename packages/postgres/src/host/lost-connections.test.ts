import { type CommitOutcome, isStorageBusy, type JsonText, type Write } from '@perdure/ports'
import { anEvent, anIdempotencyRecord, aRun, createRandom } from '@perdure/testkit'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { type CuttingProxy, createCuttingProxy, type Strike } from '../cutting-proxy.fixture.ts'
import type { PostgresStorage } from '../open-postgres-storage.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

/** How often a connection breaks per test; the seed makes a failure reproducible. */
const STRIKES = Number(process.env.POSTGRES_STRIKES ?? 40)
const SEED = Number(process.env.POSTGRES_SEED ?? 1)
const BATCH = 5

/** Half of the commits have a key; the others would be committed twice if they were sent twice. */
const writesOf = (n: number): readonly Write[] => [
  ...(n % 2 === 0 ? ([{ type: 'idempotency.reserve', now: 1 as never, record: keyOf(n) }] as const) : []),
  { type: 'run.insert', run: aRun({ id: `run-${n}`, status: 'running' }) },
  { type: 'event.append', events: [anEvent({ topic: `commit-${n}` }), anEvent({ topic: 'all', type: `commit-${n}` })] },
]

const keyOf = (n: number) => anIdempotencyRecord({ id: `key-${n}`, runId: `run-${n}` })

type Result = CommitOutcome | { readonly error: unknown }

needsTool('PostgreSQL').describe('a connection to PostgreSQL that breaks', () => {
  const schema = createTestSchema()
  let proxy: CuttingProxy

  beforeAll(async () => {
    proxy = await createCuttingProxy(await schema.url())
  })
  afterAll(() => proxy.close())

  const commitBatch = (storage: PostgresStorage, first: number, size = BATCH): Promise<readonly Result[]> =>
    Promise.all(
      Array.from({ length: size }, (_, n) =>
        storage.unitOfWork.commit(writesOf(first + n)).catch((error: unknown) => ({ error })),
      ),
    )

  /** Compares what the callers were told with what is stored. */
  const expectExactOutcomes = async (results: readonly Result[]): Promise<void> => {
    const events = await schema.query(`select position::float8 as position, topic, type from events order by position`)
    const runs = new Set((await schema.query('select id from runs')).map(({ id }) => id))
    const told = results.flatMap((result, n) => {
      if ('error' in result) {
        expect(isStorageBusy(result.error), String(result.error)).toBe(true)
        return []
      }
      expect(result.committed).toBe(true)
      return result.committed ? [{ n, positions: result.events.map(({ position }) => position) }] : []
    })
    expect(told.map(({ n }) => runs.has(`run-${n}`))).toEqual(told.map(() => true))
    expect(runs.size).toBe(told.length)
    for (const { n, positions } of told) {
      const stored = events.filter(({ topic, type }) => topic === `commit-${n}` || type === `commit-${n}`)
      expect(stored.map(({ position }) => position)).toEqual(positions)
    }
    expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 1))
  }

  const strikeAtRandom = async (groups: boolean, actionOf: () => Strike['action']): Promise<PostgresStorage> => {
    const random = createRandom(SEED)
    const storage = await schema.open({ url: proxy.url, groups })
    const results = [...(await commitBatch(storage, 0))]
    const before = proxy.bytes()
    results.push(...(await commitBatch(storage, BATCH)))
    const after = proxy.bytes()
    let struck = 0
    for (let strike = 0; strike < STRIKES; strike++) {
      const direction = random() < 0.5 ? 'to-server' : 'to-client'
      const bytes = after[direction] - before[direction]
      proxy.arm({ direction, after: 1 + Math.floor(random() * bytes * 1.1), action: actionOf() })
      results.push(...(await commitBatch(storage, results.length)))
      if (proxy.hasStruck()) struck++
    }
    await expectExactOutcomes(results)
    const { transactions, unanswered, retries } = storage.counters()
    const counts = { seed: SEED, struck, commits: results.length, transactions, unanswered, retries }
    process.stdout.write(`${JSON.stringify(counts)}\n`)
    return storage
  }

  it('leaves a single commit with the outcome that its caller gets', async () => {
    const random = createRandom(SEED)
    const storage = await schema.open({ url: proxy.url })
    const results: Result[] = []
    const commit = async () => {
      const one = storage.unitOfWork.commit(writesOf(results.length))
      results.push(await one.catch((error: unknown) => ({ error })))
    }
    for (let n = 0; n < 4; n++) await commit()
    const before = proxy.bytes()
    for (let n = 0; n < 4; n++) await commit()
    const after = proxy.bytes()

    for (let strike = 0; strike < STRIKES; strike++) {
      const direction = random() < 0.5 ? 'to-server' : 'to-client'
      const bytes = (after[direction] - before[direction]) / 4
      proxy.arm({ direction, after: 1 + Math.floor(random() * bytes * 1.1), action: 'cut' })
      await commit()
    }

    await expectExactOutcomes(results)
    expect(storage.counters().unanswered).toBeGreaterThan(0)
  })

  it.each([true, false])('leaves each commit with the outcome that its caller gets (groups: %s)', async (groups) => {
    const storage = await strikeAtRandom(groups, () => 'cut')

    expect(storage.counters().unanswered).toBeGreaterThan(0)
    expect(storage.counters().retries).toBeGreaterThan(0)
    await storage.close()
  })

  it.each([true, false])(
    'survives the termination of its server process at any statement (groups: %s)',
    async (groups) => {
      const terminate = () =>
        schema.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name like $1', [
          `perdure %${schema.name}`,
        ])

      const storage = await strikeAtRandom(groups, () => terminate)

      expect(storage.counters().retries).toBeGreaterThan(0)
      await storage.close()
    },
  )

  it.each([
    { of: 'a group', connection: 'groups', size: BATCH, groups: true },
    { of: 'a commit in one round trip', connection: 'groups', size: 1, groups: true },
    { of: 'a commit in a transaction of its own', connection: 'commits', size: 1, groups: false },
  ])('survives the termination of its server process after each statement of $of', async (struck) => {
    const { connection, size, groups } = struck
    const storage = await schema.open({ url: proxy.url, groups })
    const name = `perdure ${connection} ${schema.name}`
    const terminate = async () => {
      // Time to execute what has arrived. If it is too short, the process is terminated before the statement.
      await new Promise((resolve) => setTimeout(resolve, 20))
      await schema.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1', [
        name,
      ])
    }
    const results = [...(await commitBatch(storage, 0, size))]

    let statements = 0
    do {
      statements++
      proxy.arm({ direction: 'to-server', statementsOf: name, after: statements, action: terminate })
      results.push(...(await commitBatch(storage, results.length, size)))
    } while (proxy.hasStruck())

    expect(results.every((one) => 'committed' in one)).toBe(true)
    await expectExactOutcomes(results)
    expect(statements).toBeGreaterThan(6)
    expect(storage.counters().retries).toBeGreaterThanOrEqual(statements - 2)
  })

  it('waits for a connection that is delayed, and sends nothing twice', async () => {
    const random = createRandom(SEED)
    const delay = () => new Promise((resolve) => setTimeout(resolve, random() * 100))

    const storage = await strikeAtRandom(true, () => delay)

    expect(storage.counters()).toMatchObject({ retries: 0, unanswered: 0 })
  })

  it.each(['to-server', 'to-client'] as const)('gives up on a connection that falls silent %s', async (direction) => {
    const storage = await schema.open({ url: proxy.url, statementTimeoutMs: 300, commitWaitMs: 10_000 })
    const results = [...(await commitBatch(storage, 0))]

    proxy.arm({ direction, after: 100, action: () => new Promise(() => undefined) })
    results.push(...(await commitBatch(storage, BATCH)))

    expect(results.every((one) => 'committed' in one)).toBe(true)
    await expectExactOutcomes(results)
  })

  it('refuses commits at once when 64 MiB of them wait for the server', async () => {
    const storage = await schema.open({ url: proxy.url, commitWaitMs: 60_000 })
    const payload = JSON.stringify('x'.repeat(1_000_000)) as JsonText
    const commit = async (n: number) => {
      const events = [anEvent({ topic: 'all', type: `commit-${n}`, payload })]
      return storage.unitOfWork.commit([{ type: 'event.append', events }]).catch((error: unknown) => ({ error }))
    }
    proxy.blackout(true)
    const first = commit(0)
    await vi.waitUntil(async () => !(await storage.status()).writable, { timeout: 60_000 })

    const waiting = Array.from({ length: 100 }, (_, n) => commit(n + 1))
    proxy.blackout(false)
    const results = await Promise.all([first, ...waiting])

    const refused = results.flatMap((one, n) => ('error' in one ? [n] : []))
    expect(refused[0]).toBe(1 + Math.floor((64 * 1_048_576) / (payload.length + 20)))
    expect(refused).toEqual(Array.from({ length: 101 - (refused[0] ?? 0) }, (_, n) => n + (refused[0] ?? 0)))
    const stored = await storage.events.read({ topic: 'all' }, { after: 0, limit: 200 })
    expect(stored.map(({ type }) => type)).toEqual(results.flatMap((one, n) => ('error' in one ? [] : [`commit-${n}`])))
    expect((await commit(101)) as object).toMatchObject({ committed: true })
  })

  it('looks for the outcome of a commit until the server is back, and refuses the commits that wait behind it', async () => {
    const failures: unknown[] = []
    const limits = { settleMs: 100, commitWaitMs: 300, onFatal: (error: unknown) => failures.push(error) }
    const storage = await schema.open({ url: proxy.url, ...limits })
    const told = [...(await commitBatch(storage, 0))]
    // The server receives the commit; its answer is lost, and the server with it.
    proxy.arm({ direction: 'to-client', after: 1, action: async () => proxy.blackout(true) })
    let isTold = false
    const unknown = commitBatch(storage, BATCH, 1).finally(() => {
      isTold = true
    })
    await vi.waitUntil(() => proxy.hasStruck() && storage.counters().unanswered === 1, { timeout: 60_000 })

    for (let n = 0; n < 3; n++) {
      const refused = await commitBatch(storage, 3 * BATCH, 1)
      expect(refused.every((one) => 'error' in one && isStorageBusy(one.error))).toBe(true)
    }
    expect([isTold, failures, (await storage.status()).writable]).toEqual([false, [], false])
    proxy.blackout(false)

    told.push(...(await unknown), ...(await commitBatch(storage, BATCH + 1)))
    expect(told.every((one) => 'committed' in one)).toBe(true)
    await expectExactOutcomes(told)
    expect([failures, (await storage.status()).writable]).toEqual([[], true])
  })

  it('fails if it is closed before the outcome of a commit is found', async () => {
    const failures: unknown[] = []
    const limits = { settleMs: 100, commitWaitMs: 300, onFatal: (error: unknown) => failures.push(error) }
    const storage = await schema.open({ url: proxy.url, ...limits })
    await commitBatch(storage, 0)
    proxy.arm({ direction: 'to-client', after: 1, action: async () => proxy.blackout(true) })
    const unknown = commitBatch(storage, BATCH, 1)
    await vi.waitUntil(() => proxy.hasStruck() && storage.counters().unanswered === 1, { timeout: 60_000 })

    await storage.close()

    expect(await unknown).toEqual([{ error: expect.objectContaining({ code: 'storage-failed' }) }])
    expect(failures).toHaveLength(1)
    proxy.blackout(false)
  })

  it('waits for the server, then refuses commits without having written them', async () => {
    const storage = await schema.open({ url: proxy.url, commitWaitMs: 400 })
    const told = [...(await commitBatch(storage, 0))]

    proxy.blackout(true)
    const refused = await commitBatch(storage, BATCH)
    expect(refused.every((one) => 'error' in one && isStorageBusy(one.error))).toBe(true)
    expect(await storage.status()).toMatchObject({ writable: false })
    const waiting = commitBatch(storage, 2 * BATCH)
    setTimeout(() => proxy.blackout(false), 100)

    told.push(...refused, ...(await waiting))
    expect(told.slice(2 * BATCH).every((one) => 'committed' in one)).toBe(true)
    await expectExactOutcomes(told)
    expect(await storage.status()).toMatchObject({ writable: true })
    await storage.close()
  })
})
