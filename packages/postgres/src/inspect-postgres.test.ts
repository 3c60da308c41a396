import { EVERY_ROW, isRefusal } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { needsTool } from '../../../tooling/needed-tool.ts'
import { inspectPostgres, migratePostgres } from './inspect-postgres.ts'
import { openPostgresReader } from './open-postgres-reader.ts'
import { createTestSchema } from './test-schema.fixture.ts'

needsTool('PostgreSQL').describe('a schema on a PostgreSQL server', () => {
  const schema = createTestSchema()
  const unused = createTestSchema()
  const createdLater = createTestSchema()
  const location = async (name = schema.name) => ({ url: await schema.url(), schema: name })

  it('is migrated without a server, and inspected without a change', async () => {
    const before = await inspectPostgres(await location(unused.name))
    const again = await inspectPostgres(await location(unused.name))

    const migrated = await migratePostgres({ ...(await location(unused.name)), now: () => 7 })

    expect(before.applied).toEqual([])
    expect(again.pending).toEqual(before.pending)
    expect(migrated.pending).toEqual([])
    expect(migrated.applied.map(({ version, name }) => ({ version, name }))).toEqual(before.pending)
    expect(migrated.applied[0]?.appliedAt).toBe(7)
    expect(migrated.serverVersion).toMatch(/^\d+\.\d+/)
    expect(Math.abs(migrated.clockSkewMs)).toBeLessThan(60_000)
  })

  it('is migrated after another process has finished, even if that takes longer than a statement may', async () => {
    const waited = createdLater.name
    const lock = [0x62_65_72_6d, waited]
    await schema.query('select pg_advisory_lock($1, hashtext($2))', lock)
    const quick = { ...(await location(waited)), statementTimeoutMs: 50 }
    const migrating = migratePostgres(quick)
    setTimeout(() => void schema.query('select pg_advisory_unlock($1, hashtext($2))', lock), 2_500)

    expect((await migrating).pending).toEqual([])
  })

  it('is not migrated while a server uses it', async () => {
    await schema.open()

    await expect(migratePostgres(await location())).rejects.toMatchObject({ kind: 'storage-locked' })
  })

  it('can be read beside its server, but not written', async () => {
    const storage = await schema.open()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run-1' }) }])

    const reader = await openPostgresReader(await location())

    expect(await reader.runs.find('run-1', EVERY_ROW)).toMatchObject({ id: 'run-1' })
    const written = reader.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run-2' }) }])
    expect(await written.catch((error: unknown) => error)).toSatisfy(isRefusal)
    await reader.close()
  })

  it('is not read while it holds an unfinished copy', async () => {
    await (await schema.open()).close()
    await schema.query(`insert into meta (name, value) values ('copy_of', 'epoch')`)

    await expect(openPostgresReader(await location())).rejects.toMatchObject({ kind: 'storage-incomplete' })

    await schema.query(`delete from meta where name = 'copy_of'`)
    await (await openPostgresReader(await location())).close()
  })

  it('reports its connections, its transactions and what was repeated', async () => {
    const storage = await schema.open()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run-1' }) }])
    await schema.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1', [
      `perdure groups ${schema.name}`,
    ])
    const again = [2, 3, 4].map((n) =>
      storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: `run-${n}` }) }]),
    )
    await Promise.all(again)

    const { writable, server } = await storage.status()

    expect(writable).toBe(true)
    expect(server).toMatchObject({ connections: { busy: 0, waiting: 0 }, commits: 4 })
    expect(server?.connections.idle).toBeGreaterThan(0)
    expect(server?.transactions).toBeLessThanOrEqual(4)
    await storage.close()
  })

  it('is not read before it is migrated', async () => {
    const reading = openPostgresReader({ url: await schema.url(), schema: `${schema.name}_absent` })

    await expect(reading).rejects.toMatchObject({ kind: 'migration-failed', hint: expect.stringContaining('migrate') })
  })
})

it('cannot be inspected when the server cannot be reached', async () => {
  const inspecting = inspectPostgres({ url: 'postgres://perdure@127.0.0.1:1/perdure' })

  await expect(inspecting).rejects.toMatchObject({
    kind: 'database-unavailable',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})
