import { StartError } from '@perdure/ports'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { MIGRATIONS } from '../migrations/migrations.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { applyMigrations } from './migrate.ts'
import { openSession } from './session.ts'

const NEXT = { version: MIGRATIONS.length + 1, name: 'next', sql: 'create table next_table (id text)' }

needsTool('PostgreSQL').describe('the migration of a PostgreSQL schema', () => {
  const schema = createTestSchema()

  const sessionOf = async (name = schema.name) => {
    const server = { url: await schema.url(), schema: name, statementTimeoutMs: 10_000, pipeline: false }
    return openSession(server, { name: 'test', planning: 'default', isPatient: true })
  }
  const migrate = async (migrations = MIGRATIONS): Promise<string | undefined> => {
    const session = await sessionOf()
    try {
      await applyMigrations(session, { schema: schema.name, now: () => 7, migrations })
      return undefined
    } catch (error) {
      return error instanceof StartError ? error.kind : String(error)
    } finally {
      await session.close()
    }
  }
  const versions = async () =>
    (await schema.query('select version from schema_migrations order by 1')).map(({ version }) => version)

  it('is done once when several processes start together', async () => {
    expect(await Promise.all([migrate(), migrate(), migrate()])).toEqual([undefined, undefined, undefined])
    expect(await versions()).toEqual(MIGRATIONS.map(({ version }) => version))
  })

  it('tells which process has migrated, and from which version', async () => {
    const names = [`${schema.name}_a`, `${schema.name}_b`]
    const open = async (name: string, migrations = MIGRATIONS) => {
      const session = await sessionOf(name)
      return applyMigrations(session, { schema: name, now: () => 7, migrations }).finally(session.close)
    }
    const [name = '', other = ''] = names
    const [schemaVersion, to] = [MIGRATIONS.length, MIGRATIONS.length]
    try {
      const together = await Promise.all([open(name), open(name)])
      expect(together.map(({ change }) => change)).toEqual(expect.arrayContaining([{ from: 0, to }, undefined]))
      expect(await open(name)).toEqual({ schema: name, schemaVersion, change: undefined })

      await open(other, MIGRATIONS.slice(0, -1))
      expect(await open(other)).toEqual({ schema: other, schemaVersion, change: { from: to - 1, to } })
    } finally {
      for (const one of names) await schema.query(`drop schema if exists "${one}" cascade`)
    }
  })

  it('applies what is pending, and rolls a failed migration back', async () => {
    const failing = { version: NEXT.version + 1, name: 'failing', sql: 'create table half (id text); select 1 / 0' }

    expect(await migrate([...MIGRATIONS, NEXT, failing])).toBe('migration-failed')

    expect(await versions()).toContain(NEXT.version)
    expect(await schema.query(`select to_regclass('half') as half`)).toEqual([{ half: null }])
  })

  it('refuses a schema of a newer release', async () => {
    expect(await migrate()).toBe('storage-newer-schema')
  })

  it('uses the schema of a newer release that this release can read, and no other', async () => {
    const [released, next] = [MIGRATIONS.length, { ...NEXT, version: NEXT.version + 1, name: 'expand' }]
    const expand = { ...next, sql: 'create table wider (id text)', readableFrom: released }
    const contract = { version: expand.version + 1, name: 'contract', sql: 'drop table wider' }

    expect(await migrate([...MIGRATIONS, NEXT, expand])).toBe(undefined)
    expect(await migrate()).toBe(undefined)
    expect(await migrate([...MIGRATIONS, NEXT, expand, contract])).toBe(undefined)
    expect(await migrate()).toBe('storage-newer-schema')
  })

  it('refuses to change the schema while a server is running that could not read it', async () => {
    const migrations = [...MIGRATIONS, NEXT]
    await schema.query('delete from schema_migrations where version > $1', [MIGRATIONS.length])
    await schema.query('drop table if exists next_table, wider')
    const join = (version: number) =>
      schema.query(
        `insert into nodes (id, name, role, schema_version, lease_until)
          values ('old', 'host 1', 'member', $1, clock_timestamp() + interval '1 minute')`,
        [version],
      )
    await join(MIGRATIONS.length)

    expect(await migrate(migrations)).toBe('node-mismatch')
    expect(await migrate([...MIGRATIONS, { ...NEXT, readableFrom: MIGRATIONS.length }])).toBe(undefined)
    await schema.query('delete from nodes')
  })

  it('refuses a migration that was edited after it was applied', async () => {
    expect(await migrate([...MIGRATIONS, { ...NEXT, sql: 'create table other (id text)' }])).toBe('migration-failed')
  })
})
