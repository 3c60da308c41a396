import { EVERY_ROW } from '@perdure/ports'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { applyMigrations } from '../connection/migrate.ts'
import { openSession } from '../connection/session.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { MIGRATIONS } from './migrations.ts'

/** What schema version 8 had stored. */
const EARLIER = `
INSERT INTO runs (id, kind, target_id, owner, status, attempt, execution, depth, created_at, usage, budget, metadata, input)
VALUES ('run', 'agent', 'a', 'alice', 'suspended', 1, 1, 0, 1, '{}', '{"tokens":5,"wallClockMs":60000}', '{}',
  '{"wallClockMs":1}');
INSERT INTO approvals (id, run_id, kind, target_id, owner, name, status, created_at, payload) VALUES
  ('open', 'run', 'agent', 'a', 'alice', 'go', 'pending', 1, NULL),
  ('yes', 'run', 'agent', 'a', 'alice', 'go', 'granted', 2, '{"status":"granted"}'),
  ('no', 'run', 'agent', 'a', 'alice', 'go', 'denied', 3, NULL);
INSERT INTO steps (run_id, seq, kind, name, status, attempt, started_at, result) VALUES
  ('run', 1, 'approval', 'go', 'completed', 1, 1, '{"granted":true,"payload":{"granted":0},"by":"bob"}'),
  ('run', 2, 'step', 's', 'completed', 1, 1, '{"granted":true}'),
  ('run', 3, 'approval', 'go', 'waiting', 1, 1, NULL);
INSERT INTO events (position, run_id, type, at, payload) VALUES
  (1, 'run', 'approval.resolved', 1, '{"approvalId":"yes","decision":"granted","answer":{"decision":"granted"}}'),
  (2, 'run', 'audit.appended', 1, '{"detail":{"granted":true}}')`

needsTool('PostgreSQL').describe('migration 9', () => {
  const schema = createTestSchema()

  it('renames what the server has written, and nothing that a person or an agent has written', async () => {
    const server = { url: await schema.url(), schema: schema.name, statementTimeoutMs: 10_000, pipeline: false }
    const session = await openSession(server, { name: 'test', planning: 'default', isPatient: true })
    await applyMigrations(session, { schema: schema.name, now: () => 7, migrations: MIGRATIONS.slice(0, 8) })
    await session.close()
    await schema.query(EARLIER)

    const storage = await schema.open({ keepRows: true })

    const { items } = await storage.approvals.list({ status: 'approved' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items).toMatchObject([{ id: 'yes', status: 'approved', payload: '{"status":"granted"}' }])
    expect(await storage.runs.find('run', EVERY_ROW)).toMatchObject({
      budget: { tokens: 5, maxDuration: 60_000 },
      input: '{"wallClockMs":1}',
    })
    const results = [1, 2, 3].map(async (seq) => (await storage.steps.find('run', seq))?.result)
    expect(await Promise.all(results)).toEqual([
      '{"approved":true,"payload":{"granted":0},"by":"bob"}',
      '{"granted":true}',
      undefined,
    ])
    const events = await storage.events.read({ runId: 'run' }, { after: 0, limit: 9 })
    expect(events.map(({ payload }) => payload)).toEqual([
      '{"approvalId":"yes","decision":"approved","answer":{"decision":"granted"}}',
      '{"detail":{"granted":true}}',
    ])
  })
})
