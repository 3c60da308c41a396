import { isStorageBusy, type Refusal, StartError, type Write } from '@perdure/ports'
import { anEvent, aRun } from '@perdure/testkit'
import pg from 'pg'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { startPostgres, startStandby } from '../../../../tooling/postgres-server.ts'
import { openPostgresStorage } from '../open-postgres-storage.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const ended = (id: string): readonly Write[] => [
  { type: 'run.transition', runId: id, from: ['queued'], attempt: 1, change: { status: 'aborted' } },
  { type: 'event.append', events: [anEvent({ topic: id })] },
]

const appended: readonly Write[] = [{ type: 'event.append', events: [anEvent({ topic: 'all' })] }]

const kindOfStart = async (opening: Promise<unknown>): Promise<string> => {
  const error = await opening.catch((thrown: unknown) => thrown)
  return error instanceof StartError ? error.kind : `no StartError: ${error}`
}

needsTool('PostgreSQL').describe('a contended PostgreSQL server', () => {
  const schema = createTestSchema()

  it('cancels a commit that waits too long for a row, and commits those around it', async () => {
    const storage = await schema.open({ statementTimeoutMs: 300 })
    for (const id of ['a', 'b', 'c']) await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id }) }])
    await schema.query('begin')
    await schema.query(`select 1 from runs where id = 'b' for update`)

    const [a, b, c] = await Promise.allSettled(['a', 'b', 'c'].map((id) => storage.unitOfWork.commit(ended(id))))

    await schema.query('rollback')
    expect([a, c].map((one) => one?.status === 'fulfilled' && one.value.committed)).toEqual([true, true])
    expect(b?.status === 'rejected' && isStorageBusy(b.reason)).toBe(true)
    expect((await storage.unitOfWork.commit(ended('b'))).committed).toBe(true)
    await storage.close()
  })

  it.each([true, false])('commits after a deadlock with another program (groups: %s)', async (groups) => {
    const storage = await schema.open({ groups })
    for (const id of ['a', 'b']) await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id }) }])
    await schema.query('begin')
    await schema.query(`select 1 from runs where id = 'b' for update`)

    const both = storage.unitOfWork.commit([...ended('a'), ...ended('b')])
    await schema.query('select pg_sleep(0.3)')
    // The commit has waited for longer, so the server gives up the commit.
    await schema.query(`select 1 from runs where id = 'a' for update`)
    await schema.query('rollback')

    expect(await both).toMatchObject({ committed: true, events: [{ position: 1 }, { position: 2 }] })
    await storage.close()
  })

  it('commits while every connection for reads waits', async () => {
    const storage = await schema.open({ poolSize: 5 })
    await schema.query('begin')
    await schema.query('lock table sessions in access exclusive mode')
    const reads = Array.from({ length: 10 }, () => storage.sessions.messages('none', { limit: 1, order: 'asc' }))
    const blocked = Array.from({ length: 10 }, () => storage.sessions.find('none', 'every-row'))

    expect((await storage.unitOfWork.commit(appended)).committed).toBe(true)

    await schema.query('rollback')
    expect(await Promise.all(blocked)).toEqual(blocked.map(() => undefined))
    expect(await Promise.all(reads)).toEqual(reads.map(() => ({ items: [], nextCursor: null })))
    await storage.close()
  })

  it('refuses a second process', async () => {
    const storage = await schema.open()

    const url = await schema.url()
    expect(await kindOfStart(openPostgresStorage({ url, schema: schema.name }))).toBe('storage-locked')

    await storage.close()
    const next = await schema.open()
    expect((await next.unitOfWork.commit(appended)).committed).toBe(true)
    await next.close()
  })

  it('writes nothing more after another process has taken over', async () => {
    const failures: Refusal[] = []
    const storage = await schema.open({ onFatal: (error) => failures.push(error) })
    await storage.unitOfWork.commit(appended)
    await schema.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1', [
      `perdure node ${schema.name}`,
    ])

    const url = await schema.url()
    const successor = await openPostgresStorage({ url, schema: schema.name })

    await expect(storage.unitOfWork.commit(appended)).rejects.toMatchObject({ code: 'storage-failed' })
    expect(failures.map(({ code }) => code)).toEqual(['storage-failed'])
    expect((await successor.unitOfWork.commit(appended)).committed).toBe(true)
    expect(await schema.query('select position::int from events')).toEqual([{ position: 1 }, { position: 2 }])
    await storage.close()
    await successor.close()
  })

  it('refuses a URL that leads nowhere, a pool that is too small or too large, and a schema with an invalid name', async () => {
    const nowhere = openPostgresStorage({ url: 'postgres://perdure@127.0.0.1:1/none?sslmode=disable' })
    expect(await kindOfStart(nowhere)).toBe('database-unavailable')
    const small = openPostgresStorage({ url: await schema.url(), poolSize: 4 })
    expect(await kindOfStart(small)).toBe('config-invalid')
    const greedy = openPostgresStorage({ url: await schema.url(), poolSize: 100_000 })
    await expect(greedy).rejects.toMatchObject({ kind: 'config-invalid', message: expect.stringContaining('100000') })
    const unnamed = openPostgresStorage({ url: await schema.url(), schema: 'no "name"' })
    expect(await kindOfStart(unnamed)).toBe('config-invalid')
  })
})

needsTool('postgres').describe('a PostgreSQL server of its own', () => {
  it('keeps every acknowledged commit when it crashes and restarts, and commits go on', async () => {
    const server = await startPostgres()
    const storage = await openPostgresStorage({ url: server.url, commitWaitMs: 30_000 })
    const before = await Promise.all(Array.from({ length: 20 }, () => storage.unitOfWork.commit(appended)))

    server.stop('immediate')
    const during = Array.from({ length: 20 }, () => storage.unitOfWork.commit(appended))
    await server.start()
    const outcomes = [...before, ...(await Promise.all(during))]

    const positions = outcomes.flatMap((one) => (one.committed ? one.events.map(({ position }) => position) : []))
    const stored = await storage.events.read({ topic: 'all' }, { after: 0, limit: 100 })
    expect(positions).toHaveLength(40)
    expect(stored.map(({ position }) => position)).toEqual(positions)
    await storage.close()
    server.remove()
  })

  it('is waited for while others use all of its connections', async () => {
    const server = await startPostgres(undefined, { settings: ['max_connections=20'] })
    const others: pg.Client[] = []
    const connect = async () => {
      const client = new pg.Client({ connectionString: server.url })
      client.on('error', () => undefined)
      await client.connect()
      others.push(client)
      return client
    }
    const storage = await openPostgresStorage({ url: server.url, poolSize: 5, commitWaitMs: 500 })
    await storage.unitOfWork.commit(appended)
    const administrator = await connect()
    await administrator.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like 'perdure %'`,
    )
    await expect(async () => {
      for (;;) await connect()
    }).rejects.toMatchObject({ code: '53300' })

    const refused = await storage.unitOfWork.commit(appended).catch((error: unknown) => error)
    const { writable } = await storage.status()
    await Promise.all(others.map((client) => client.end()))

    expect(isStorageBusy(refused)).toBe(true)
    expect(writable).toBe(false)
    expect(await storage.unitOfWork.commit(appended)).toMatchObject({ committed: true, events: [{ position: 2 }] })
    await storage.close()
    server.remove()
  })

  needsTool('postgres', 'pg_basebackup').it('is refused while it is a standby', async () => {
    const primary = await startPostgres()
    const standby = await startStandby(primary.url)

    expect(await kindOfStart(openPostgresStorage({ url: standby.url }))).toBe('database-unavailable')

    standby.remove()
    primary.remove()
  })
})
