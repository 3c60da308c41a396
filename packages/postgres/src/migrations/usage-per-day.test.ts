import type { EpochMs } from '@perdure/ports'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { applyMigrations } from '../connection/migrate.ts'
import { openSession } from '../connection/session.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { MIGRATIONS } from './migrations.ts'

const DAY_MS = 86_400_000

needsTool('PostgreSQL').describe('migration 21', () => {
  const schema = createTestSchema()

  it('keeps the usage of deleted runs, to which other days are added', async () => {
    const server = { url: await schema.url(), schema: schema.name, statementTimeoutMs: 10_000, pipeline: false }
    const session = await openSession(server, { name: 'test', planning: 'default', isPatient: true })
    await applyMigrations(session, { schema: schema.name, now: () => 7, migrations: MIGRATIONS.slice(0, 20) })
    await session.close()
    await schema.query("INSERT INTO deleted_usage VALUES ('alice', 20455, 2, 0.5)")

    const { runs } = await schema.open({ keepRows: true })
    await schema.query("INSERT INTO deleted_usage VALUES ('alice', 20456, 3, 0.75)")

    const usageOn = async (day: number) => {
      const { runsToday, costUsdToday } = await runs.usage('alice', (day * DAY_MS) as EpochMs)
      return [runsToday, costUsdToday]
    }
    expect([await usageOn(20_455), await usageOn(20_456)]).toEqual([
      [5, 1.25],
      [3, 0.75],
    ])
  })
})
