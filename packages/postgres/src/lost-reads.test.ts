import { type EpochMs, isStorageBusy } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { type CuttingProxy, createCuttingProxy } from './cutting-proxy.fixture.ts'
import type { PostgresStorage } from './open-postgres-storage.ts'
import { createTestSchema } from './test-schema.fixture.ts'

const targets = [{ kind: 'agent', id: 'echo' }] as const
const now = Date.UTC(2100, 0, 1) as EpochMs
const limits = { perHolder: 10, total: 10 }

/** Every call of a port that a request waits for and that is not a read of the host. */
const CALLS: Readonly<Record<string, (storage: PostgresStorage) => Promise<unknown> | undefined>> = {
  'the first run in a line': ({ cluster }) => cluster?.firstInLine({ targets, now, owner: 'alice' }),
  'the queued runs': ({ cluster }) => cluster?.claim({ targets, now, limit: 1 }),
  'the departed processes': ({ cluster }) => cluster?.departed(),
  'the processes': ({ nodes }) => nodes?.list(),
  'a request to drain': ({ nodes }) => nodes?.requestDrain('node'),
  'the load': ({ nodes }) => nodes?.load(),
  'a new ticket': ({ tickets }) => tickets?.insert(aTicket('new'), limits, now),
  'a ticket': ({ tickets }) => tickets?.take('known', now),
  'the failures of an address': ({ lockouts }) => lockouts?.find(['192.0.2.1']),
  'the locked addresses': ({ lockouts }) => lockouts?.locked(now, 1),
  'a run': ({ runs }) => runs.find('run', { all: true } as never),
}

const aTicket = (digest: string) => ({ digest, holder: 'token', principal: '{}' as never, expiresAt: now })

needsTool('PostgreSQL').describe('a PostgreSQL server that cannot be reached', () => {
  const schema = createTestSchema()
  let proxy: CuttingProxy
  let storage: PostgresStorage

  beforeAll(async () => {
    proxy = await createCuttingProxy(await schema.url())
  })
  afterAll(() => proxy.close())

  it('is reported to the callers of every port as busy', async () => {
    storage = await schema.open({ url: proxy.url, cluster: true, leaseMs: 60_000 })
    proxy.blackout(true)
    const outcomes = Object.entries(CALLS).map(async ([name, call]) => {
      const error = await call(storage)?.catch((thrown: unknown) => thrown)
      return [name, isStorageBusy(error) || String(error)]
    })
    const told = Object.fromEntries(await Promise.all(outcomes))
    proxy.blackout(false)

    expect(told).toEqual(Object.fromEntries(Object.keys(CALLS).map((name) => [name, true])))
  })

  it('is used on after another release has added a column to a table that was read', async () => {
    storage = await schema.open({ cluster: true, leaseMs: 60_000 })
    const locked = () => storage.lockouts?.locked(now, 1)
    const onEveryConnection = () => Promise.all(Array.from({ length: 20 }, locked))
    await onEveryConnection()
    await onEveryConnection()
    await schema.query('alter table lockouts add column later text')

    expect(await onEveryConnection()).toEqual(Array(20).fill([]))
  })

  it('does not keep the runs whose claim it executed but did not answer', async () => {
    storage = await schema.open({ url: proxy.url, cluster: true, leaseMs: 60_000 })
    const claim = async (held: readonly string[]) =>
      (await storage.cluster?.claim({ targets, now, limit: 10, held }))?.map(({ id }) => id)
    await claim([])
    const run = aRun({ id: 'lost', targetId: 'echo', status: 'queued' })
    await storage.unitOfWork.commit([{ type: 'run.insert', run }])
    proxy.arm({ direction: 'to-client', after: 1, action: 'cut' })
    const first = await claim(['lost'])
    expect(proxy.hasStruck()).toBe(true)

    expect([first, await claim(['lost']), await claim([]), await claim(['lost'])]).toEqual([[], [], ['lost'], []])
  })
})
