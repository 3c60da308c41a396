import { randomUUID } from 'node:crypto'
import { StartError } from '@perdure/ports'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { openPostgresImport, type PostgresImport } from './open-postgres-import.ts'

const SOURCES = {
  name: 'audit_sources',
  columns: ['key'],
  order: ['key'],
}

const SPEND = { name: 'consolidation_spend', columns: ['day', 'tokens', 'cost_usd'], order: ['day'] }

needsTool('PostgreSQL').describe('the copy of a table', () => {
  const schema = createTestSchema()

  /** Fills an empty schema, after the given statements. */
  const withImport = async <T>(statements: string, work: (target: PostgresImport) => Promise<T>): Promise<T> => {
    await (await schema.open()).close()
    await schema.query(`delete from meta where name = 'copy_of'; ${statements}`)
    const target = await openPostgresImport({ url: await schema.url(), schema: schema.name, epoch: randomUUID() })
    try {
      return await work(target)
    } finally {
      await target.close()
      await schema.query(
        `delete from meta where name = 'copy_of'; delete from audit_sources; drop rule if exists fault on audit_sources`,
      )
    }
  }
  const refusalOf = (work: Promise<unknown>) =>
    work.then(
      () => 'copied',
      (error: unknown) => (error instanceof StartError ? `${error.kind}: ${error.message}` : String(error)),
    )
  const copySources = (target: PostgresImport, count = 2) =>
    target.copyTable({ table: SOURCES, rows: [['a\u0000'], ['b']], count })

  it('counts and hashes the rows', async () => {
    const copied = await withImport('', copySources)

    expect(copied).toMatchObject({ name: 'audit_sources', rows: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  it.each([
    ['a lost row', `do instead nothing`, '2 rows read, 1 stored'],
    ['an altered row', `do also update audit_sources set key = 'c' where key = new.key`, 'differ'],
  ])('finds %s', async (_, action, found) => {
    const fault = `create rule fault as on insert to audit_sources where new.key = 'b' ${action}`

    expect(await withImport(fault, (target) => refusalOf(copySources(target)))).toContain(found)
  })

  it('finds a row that could not be read', async () => {
    expect(await withImport('', (target) => refusalOf(copySources(target, 3)))).toContain('copy-refused')
  })

  it('refuses columns that only one side has', async () => {
    const copy = (columns: readonly string[]) => (target: PostgresImport) =>
      refusalOf(target.copyTable({ table: { ...SPEND, columns }, rows: [], count: 0 }))

    expect(await withImport('', copy([...SPEND.columns, 'later']))).toContain('later')
    expect(await withImport('', copy(['day', 'tokens']))).toContain('cost_usd')
  })

  it('gives up a value that a column cannot hold', async () => {
    const table = { name: 'extractions', columns: ['session_id', 'through_seq'], order: ['session_id'] }
    const copy = (target: PostgresImport) => refusalOf(target.copyTable({ table, rows: [['s', 0.5]], count: 1 }))

    expect(await withImport('', copy)).toContain('0.5 is not an integer')
  })

  it('copies rows in batches that are larger than one statement', async () => {
    const rows = Array.from({ length: 2_500 }, (_, row) => [String(row).padStart(6, '0')])
    const copied = await withImport('', (target) => target.copyTable({ table: SOURCES, rows, count: rows.length }))

    expect(copied.rows).toBe(2_500)
  })

  it('lets one command copy at a time', async () => {
    const second = async () =>
      refusalOf(openPostgresImport({ url: await schema.url(), schema: schema.name, epoch: 'other' }))

    expect(await withImport('', second)).toContain('storage-locked')
  })
})
