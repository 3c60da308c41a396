import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommitOutcome, type EpochMs, isStorageBusy, type Storage } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { toolPath } from '../../../../tooling/machine-tools.ts'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { startPostgres, startStandby } from '../../../../tooling/postgres-server.ts'
import { openPostgresStorage } from '../open-postgres-storage.ts'
import type { PostgresStorageOptions } from '../postgres-storage-options.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const now = 1 as EpochMs

const append = (storage: Storage): Promise<CommitOutcome> =>
  storage.unitOfWork.commit([{ type: 'event.append', events: [anEvent({ topic: 'all' })] }])

const positionsOf = (outcomes: readonly CommitOutcome[]): readonly number[] =>
  outcomes.flatMap((outcome) => (outcome.committed ? outcome.events.map(({ position }) => position) : []))

/** A name that leads to one server after the other. */
async function createRoute(first: string) {
  let target = new URL(first)
  const open = new Set<{ readonly client: Socket; name: string }>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const entry = { client, name: '' }
    open.add(entry)
    client.on('close', () => open.delete(entry))
    // The first packet names the application.
    client.once('data', (data) => {
      entry.name = data.toString('latin1')
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const url = new URL(first)
  url.port = String(port)
  return {
    url: url.href,
    leadTo(next: string) {
      target = new URL(next)
    },
    /** Cuts the open connections as well. */
    moveTo(next: string) {
      target = new URL(next)
      for (const { client } of open) client.destroy()
    },
    /** Cuts the connections of one application. */
    cutOne(name: string) {
      const found = [...open].filter((entry) => entry.name.includes(name))
      expect(found.length).toBeGreaterThan(0)
      for (const { client } of found) client.destroy()
    },
  }
}

needsTool('postgres', 'pg_basebackup').describe('a failover to a standby', () => {
  it('uses no position again that was lost with the primary, and keeps the epoch', async () => {
    const primary = await startPostgres()
    onTestFinished(primary.remove)
    const first = await openPostgresStorage({ url: primary.url })
    const kept = positionsOf([await append(first)])
    const standby = await startStandby(primary.url)
    onTestFinished(standby.remove)
    const route = await createRoute(primary.url)
    await first.close()
    const storage = await openPostgresStorage({ url: route.url, commitWaitMs: 30_000 })
    onTestFinished(() => storage.close())
    const { epoch } = await storage.events.head()

    standby.stop('immediate')
    const lost = positionsOf([await append(storage), await append(storage)])
    primary.stop('immediate')
    await standby.start()
    standby.promote()
    route.leadTo(standby.url)
    const later = positionsOf([await append(storage), await append(storage)])

    const stored = await storage.events.read({ topic: 'all' }, { after: 0, limit: 100 })
    expect(stored.map(({ position }) => position)).toEqual([...kept, ...later])
    expect(later[0]).toBeGreaterThan(Math.max(...lost) + 1_000_000)
    expect(later[1]).toBe((later[0] ?? 0) + 1)
    expect((await storage.events.head()).epoch).toBe(epoch)
  })

  it('is waited for: a standby that is not promoted is neither written nor read', async () => {
    const primary = await startPostgres()
    onTestFinished(primary.remove)
    const first = await openPostgresStorage({ url: primary.url })
    await append(first)
    await first.close()
    const standby = await startStandby(primary.url)
    onTestFinished(standby.remove)
    const route = await createRoute(primary.url)
    const storage = await openPostgresStorage({ url: route.url, commitWaitMs: 500 })
    onTestFinished(() => storage.close())
    const read = () => storage.events.read({ topic: 'all' }, { after: 0, limit: 100 })

    route.leadTo(standby.url)
    primary.stop('immediate')
    const refused = await Promise.allSettled([append(storage), read(), read(), storage.lanes.taken({ now, limit: 1 })])
    const { writable } = await storage.status()
    await primary.start()
    route.leadTo(primary.url)
    await vi.waitUntil(async () => (await append(storage).catch(() => undefined))?.committed, { timeout: 60_000 })

    expect(refused.map((one) => one.status === 'rejected' && isStorageBusy(one.reason))).toEqual(
      refused.map(() => true),
    )
    expect(writable).toBe(false)
    expect((await read()).map(({ position }) => position)).toEqual([1, 2])
  })
})

needsTool('postgres', 'pg_basebackup').describe('a primary that a standby has replaced', () => {
  /** A primary, an asynchronous standby, and a name that leads to either. Nobody stops the primary. */
  async function setUp() {
    const primary = await startPostgres()
    onTestFinished(primary.remove)
    const first = await openPostgresStorage({ url: primary.url })
    await append(first)
    await first.close()
    const standby = await startStandby(primary.url)
    onTestFinished(standby.remove)
    const route = await createRoute(primary.url)
    const folder = mkdtempSync(join(tmpdir(), 'perdure-history-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const warnings: string[] = []
    const open = (over: Partial<PostgresStorageOptions> = {}) =>
      openPostgresStorage({
        ...{ url: route.url, commitWaitMs: 1_000, historyPath: join(folder, 'perdure.history') },
        ...{ onWarning: (text: string) => void warnings.push(text), ...over },
      })
    return { primary, standby, route, open, warnings, folder }
  }

  /** A commit on a connection that was cut unnoticed has an unknown outcome, and would wait for its server. */
  const leadTo = async (route: Awaited<ReturnType<typeof createRoute>>, url: string, storage: Storage) => {
    route.moveTo(url)
    await vi.waitUntil(async () => !(await storage.status()).writable, { timeout: 60_000 })
  }

  const committed = (storage: Storage) =>
    vi.waitUntil(async () => (await append(storage).catch(() => undefined))?.committed, { timeout: 60_000 })
  const positions = async (storage: Storage) =>
    (await storage.events.read({ topic: 'all' }, { after: 0, limit: 100 })).map(({ position }) => position)

  it('is neither written nor read by a process that has seen its successor', async () => {
    const { primary, standby, route, open, warnings } = await setUp()
    const storage = await open()
    onTestFinished(() => storage.close())
    await append(storage)
    standby.promote()
    route.moveTo(standby.url)
    await committed(storage)
    const kept = await positions(storage)

    await leadTo(route, primary.url, storage)
    const refused = await Promise.allSettled([append(storage), positions(storage), append(storage)])

    expect(refused.map((one) => one.status === 'rejected' && isStorageBusy(one.reason))).toEqual([true, true, true])
    expect(await storage.status()).toMatchObject({
      writable: false,
      message: expect.stringContaining('the PostgreSQL server is an older primary: it is on timeline 1'),
      server: { refusedConnections: expect.any(Number) },
    })
    expect((await storage.status()).server?.refusedConnections).toBeGreaterThan(0)
    expect(warnings.filter((text) => text.includes('older primary'))).toHaveLength(1)
    route.moveTo(standby.url)
    await committed(storage)
    expect((await positions(storage)).slice(0, kept.length)).toEqual(kept)
    expect(await storage.status()).toMatchObject({ writable: true })
  })

  it('is refused by the next process on the same machine, and not after its history was deleted', async () => {
    const { primary, standby, route, open, folder } = await setUp()
    standby.promote()
    route.moveTo(standby.url)
    const storage = await open()
    await append(storage)
    await storage.close()

    route.moveTo(primary.url)
    await expect(open()).rejects.toMatchObject({
      kind: 'database-unavailable',
      message: expect.stringContaining('is an older primary'),
    })
    rmSync(join(folder, 'perdure.history'))
    await (await open()).close()
  })

  it('is refused beside a standby that was promoted as well, although its positions are higher', async () => {
    const { primary, standby, route, open } = await setUp()
    const other = await startStandby(primary.url)
    onTestFinished(other.remove)
    const storage = await open()
    await append(storage)
    standby.promote()
    route.moveTo(standby.url)
    await committed(storage)
    const kept = await positions(storage)
    other.promote()
    // A process that has seen neither moves the positions of the other server.
    const stranger = await openPostgresStorage({ url: other.url })
    const foreign = positionsOf([await append(stranger), await append(stranger), await append(stranger)])
    await stranger.close()
    expect(foreign.at(-1)).toBeGreaterThan(kept.at(-1) ?? 0)

    await leadTo(route, other.url, storage)
    const refused = await Promise.allSettled([append(storage), positions(storage), append(storage)])

    expect(refused.map((one) => one.status === 'rejected' && isStorageBusy(one.reason))).toEqual([true, true, true])
    expect(await storage.status()).toMatchObject({
      writable: false,
      message: expect.stringContaining('the PostgreSQL server lacks acknowledged events'),
    })
    await storage.close()
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('lacks acknowledged events') })
    route.moveTo(standby.url)
    const next = await open()
    onTestFinished(() => next.close())
    await append(next)
    expect((await positions(next)).slice(0, kept.length)).toEqual(kept)
  })

  it('is not written by a process that refuses it', async () => {
    const { primary, standby, route, open } = await setUp()
    const other = await startStandby(primary.url)
    onTestFinished(other.remove)
    const storage = await open()
    onTestFinished(() => storage.close())
    standby.promote()
    route.moveTo(standby.url)
    await committed(storage)
    other.promote()
    const client = new pg.Client({ connectionString: other.url })
    await client.connect()
    onTestFinished(() => client.end())
    const contentOfOther = async () =>
      (await client.query('select (select max(position) from perdure.events), meta.* from perdure.meta order by name'))
        .rows
    const before = await contentOfOther()

    await leadTo(route, other.url, storage)
    await expect(append(storage)).rejects.toSatisfy(isStorageBusy)

    expect(await contentOfOther()).toEqual(before)
  })

  it('loses its connections to a process that sees the successor on another connection', async () => {
    const { standby, route, open } = await setUp()
    const storage = await open()
    onTestFinished(() => storage.close())
    await Promise.all([append(storage), positions(storage), positions(storage)])
    standby.promote()
    route.leadTo(standby.url)
    // Only new connections lead to the successor. The first of them is that of the writer.
    route.cutOne('perdure groups')
    await committed(storage)

    await vi.waitUntil(
      async () => (await positions(storage).catch(() => [])).some((position) => position > 1_000_000),
      {
        timeout: 60_000,
      },
    )
  })
})

needsTool('PostgreSQL').describe('a database that lacks acknowledged events', () => {
  const schema = createTestSchema()

  it('is refused at the next start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'perdure-history-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const url = await schema.url()
    const open = () => openPostgresStorage({ url, schema: schema.name, historyPath: join(folder, 'history') })
    const storage = await open()
    await append(storage)
    await append(storage)
    await storage.close()
    await (await open()).close()

    // A retention limit may delete events.
    await schema.query(`delete from "${schema.name}".events where position = 2`)
    await schema.query(`insert into "${schema.name}".events (position, type, at, payload) values (2, '', 1, '')`)
    await (await open()).close()
    await schema.query(`update "${schema.name}".events set type = 'another', at = 2 where position = 2`)
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('is not the one that was') })
    await schema.query(`delete from "${schema.name}".events where position > 1`)

    await expect(open()).rejects.toMatchObject({
      kind: 'database-unavailable',
      message: expect.stringContaining('it ends at position 1, and position 2 was acknowledged'),
    })
  })
})

needsTool('PostgreSQL').describe('a schema on another server', () => {
  const schema = createTestSchema()

  it('gets a new epoch, once', async () => {
    const storage = await schema.open()
    await append(storage)
    const before = await storage.events.head()
    await storage.close()
    await schema.query(`update meta set value = 'of the server of the dump' where name = 'system'`)

    const url = await schema.url()
    const reopen = async () => {
      const restored = await openPostgresStorage({ url, schema: schema.name })
      const head = await restored.events.head()
      await restored.close()
      return head
    }
    const [after, again] = [await reopen(), await reopen()]

    expect(after.epoch).not.toBe(before.epoch)
    expect([after.position, again]).toEqual([before.position, after])
  })
})

needsTool('PostgreSQL', 'pg_dump', 'psql').describe('a dump', () => {
  const schema = createTestSchema()

  it('gives its schema a new epoch when it is restored on the same server, once', async () => {
    const url = await schema.url()
    const run = (tool: 'pg_dump' | 'psql', args: readonly string[], input = ''): string => {
      const { status, stdout, stderr } = spawnSync(toolPath(tool), [...args, url], { encoding: 'utf8', input })
      if (status !== 0) throw new Error(stderr)
      return stdout
    }
    const headAfter = async (events: number) => {
      const storage = await openPostgresStorage({ url, schema: schema.name })
      for (let n = 0; n < events; n++) await append(storage)
      const head = await storage.events.head()
      await storage.close()
      return head
    }
    const dumped = await headAfter(1)
    const dump = run('pg_dump', [`--schema=${schema.name}`])
    const lost = await headAfter(1)

    await schema.query(`drop schema "${schema.name}" cascade`)
    run('psql', ['--quiet', '--set=ON_ERROR_STOP=1'], dump)
    const restored = await headAfter(1)

    expect(lost).toEqual({ ...dumped, position: 2 })
    expect(restored.epoch).not.toBe(dumped.epoch)
    expect(await headAfter(0)).toEqual(restored)
  })
})

needsTool('postgres', 'pg_basebackup').describe('replication', () => {
  const statementsOn = async (url: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    return (text: string) => client.query(text)
  }

  it('is warned about while every standby is asynchronous, and can be demanded to be synchronous', async () => {
    const primary = await startPostgres()
    onTestFinished(primary.remove)
    const warnings: string[] = []
    const options = {
      url: primary.url,
      requireSyncStandby: true,
      onWarning: (message: string) => warnings.push(message),
    }
    const alone = await openPostgresStorage(options)
    const statusAlone = await alone.status()
    await alone.close()
    const standby = await startStandby(primary.url)
    onTestFinished(standby.remove)
    const query = await statementsOn(primary.url)
    await vi.waitUntil(async () => (await query('select 1 from pg_stat_replication')).rowCount === 1, {
      timeout: 60_000,
    })

    const storage = await openPostgresStorage(options)
    onTestFinished(() => storage.close())
    const before = await storage.status()
    await query(`alter system set synchronous_standby_names = '*'`)
    await query('select pg_reload_conf()')

    expect([statusAlone.writable, before.writable]).toEqual([false, false])
    expect(before.message).toMatch('No synchronous standby')
    expect(warnings).toEqual([expect.stringContaining('asynchronously')])
    await vi.waitUntil(async () => (await storage.status()).writable, { timeout: 60_000 })
  })

  it('is reported if a commit stops waiting for it', async () => {
    const primary = await startPostgres()
    onTestFinished(primary.remove)
    const warnings: string[] = []
    const storage = await openPostgresStorage({ url: primary.url, onWarning: (message) => warnings.push(message) })
    onTestFinished(() => storage.close())
    await append(storage)
    const query = await statementsOn(primary.url)
    await query(`alter system set synchronous_standby_names = 'nobody'`)
    await query('select pg_reload_conf()')

    const outcomes: CommitOutcome[] = []
    const appending = (async () => {
      // The server takes a while to apply its setting.
      while (warnings.length === 0) outcomes.push(await append(storage))
    })()
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
      where wait_event = 'SyncRep' and application_name like 'perdure %'`
    const isWarned = async () => (await query(cancel)) && warnings.length > 0
    await vi.waitUntil(isWarned, { timeout: 60_000 })
    await query('alter system reset synchronous_standby_names')
    await query('select pg_reload_conf()')
    await query(cancel)
    await appending

    expect(outcomes.map(({ committed }) => committed)).toEqual(outcomes.map(() => true))
    expect(warnings).toEqual(warnings.map(() => expect.stringContaining('01000')))
  })
})
