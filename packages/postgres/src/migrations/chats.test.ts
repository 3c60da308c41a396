import { EVERY_ROW } from '@perdure/ports'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { applyMigrations } from '../connection/migrate.ts'
import { openSession } from '../connection/session.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { MIGRATIONS } from './migrations.ts'

const LONG = 'x'.repeat(300)

/** What schema version 14 had stored. JSON text that PostgreSQL cannot read: escaped null characters and half pairs. */
const EARLIER = `
INSERT INTO sessions (id, owner, agent_id, last_seq, created_at, updated_at, metadata) VALUES
  ('a', 'alice', 'echo', 3, 5, 9, '{"interop.id":"chat \\"1\\""}'), ('b', 'alice', 'echo', 1, 6, 9, '{}'),
  ('c', 'alice', NULL, 0, 6, 9, '{"interop.id":"c"}'), ('d', 'bob', 'echo', 0, 6, 9, '{"interop.id":"d"}'),
  ('e', 'bob', 'echo', 2, 6, 9, '{"interop.id":"e"}'), ('f', 'bob', 'echo', 0, 6, 9, '{"interop.id":"\\ud83d"}');
INSERT INTO session_fields (session_id, field, value, session_at)
  SELECT id, 'metadata.interop.id', id, created_at FROM sessions WHERE metadata <> '{}';
INSERT INTO messages (session_id, seq, id, role, run_id, created_at, content) VALUES
  ('a', 1, 'm1', 'user', NULL, 5, '{"text":"Hello","messages":[]}'), ('a', 2, 'm2', 'assistant', NULL, 6, '"${LONG}"'),
  ('a', 3, 'm3', 'user', NULL, 7, '[1]'), ('b', 1, 'm4', 'user', NULL, 7, '"no chat"'),
  ('e', 1, 'm5', 'user', NULL, 7, '"\\u0000"'), ('e', 2, 'm6', 'assistant', NULL, 8, '{"text":"cut \\ud83d"}')`

needsTool('PostgreSQL').describe('migration 15', () => {
  const schema = createTestSchema()

  it('lists chats from an earlier schema, as read, whatever their messages contain', async () => {
    const server = { url: await schema.url(), schema: schema.name, statementTimeoutMs: 10_000, pipeline: false }
    const session = await openSession(server, { name: 'test', planning: 'default', isPatient: true })
    await applyMigrations(session, { schema: schema.name, now: () => 7, migrations: MIGRATIONS.slice(0, 14) })
    await session.close()
    await schema.query(EARLIER)

    const { chats } = await schema.open({ keepRows: true })

    const { items } = await chats.list({ agentId: 'echo' }, { limit: 9, order: 'asc' }, EVERY_ROW)
    const shown = items.map(({ sessionId, chatId, firstText, lastMessage, lastSeq, answerSeq, readSeq }) => [
      ...[sessionId, chatId, firstText, lastMessage?.role, lastMessage?.text, lastSeq, answerSeq, readSeq],
    ])
    expect(shown).toEqual([
      ['a', 'chat "1"', 'Hello', 'user', '', 3, 2, 3],
      ['d', 'd', '', undefined, undefined, 0, 0, 0],
      ['e', 'e', '', 'assistant', '', 2, 2, 2],
    ])
  })
})
