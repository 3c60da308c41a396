import type { PageQuery, Visibility } from '@perdure/ports'
import type { Query } from '@perdure/storage'
import { beforeAll } from 'vitest'
import { createTestSchema, type TestSchema } from '../test-schema.fixture.ts'
import { POSTGRES } from './dialect.ts'

export const newest: PageQuery = { limit: 50, order: 'desc' }
export const beyond: PageQuery = { limit: 50, order: 'desc', cursor: '1.a' }
export const ME: Visibility = { owner: 'owner-1' }
export const MIXED: Visibility = { owner: 'owner-1', agentIds: ['a', 'b'], workflowIds: 'all' }

/**
 * Explains statements on tables with enough rows for the planner to choose as it does in production, or on tables without
 * rows and statistics, as on the first day of an installation.
 */
export function createPlans({ isFilled }: { readonly isFilled: boolean }) {
  const schema = createTestSchema()
  let plans = 0

  beforeAll(async () => {
    await (await schema.open()).close()
    if (isFilled) await fillTables(schema)
    await schema.query('set plan_cache_mode = force_generic_plan')
    await schema.query('set enable_seqscan = off')
  })

  return {
    schema,
    async planOf(query: Pick<Query<never, unknown>, 'in'>): Promise<string> {
      const sql = query.in(POSTGRES).text
      const name = `plan${plans++}`
      const values = new Set(sql.match(/\$\d+/g) ?? []).size
      await schema.query(`prepare ${name} as ${sql}`)
      const args = values === 0 ? '' : `(${Array.from({ length: values }, () => 'null').join()})`
      const rows = await schema.query(`explain (costs off) execute ${name}${args}`)
      return rows.map((row) => String(row['QUERY PLAN'])).join('\n')
    },
  }
}

/** Fills the tables and collects their statistics. */
export async function fillTables({ query }: TestSchema): Promise<void> {
  for (const statement of SEED) await query(statement)
  await query('analyze')
}

const SEED = [
  `insert into runs (id, kind, target_id, thread_id, session_id, owner, user_id, status, attempt, execution, depth,
      parent_run_id, trigger_id, created_at, start_at, completed_at, deadline_at, usage, metadata, parked, input)
    select 'run-' || n, case when n % 2 = 0 then 'agent' else 'workflow' end, 'target-' || n % 20,
      'thread-' || case when n % 100 = 1 then n else n % 900 end,
      'session-' || n % 900, 'owner-' || n % 50, 'user-' || n % 50,
      case when n % 100 = 0 then 'queued' when n % 100 = 1 then 'suspended' when n % 50 = 2 then 'failed' else 'completed' end,
      1, 1, 0, case when n % 3 = 0 then 'run-' || n / 3 end, case when n % 2 = 0 then 'trigger-' || n % 9 end, n,
      case when n % 100 = 0 then n end, case when n % 100 > 1 then n end, case when n % 10 = 0 then n end, '{}', '{}',
      case when n % 500 = 1 then '{"why":1}' end, repeat('x', 200)
    from generate_series(1, 20000) as n`,
  `insert into run_fields select 'userId', 'user-' || n % 50, n, 'run-' || n from generate_series(1, 20000) as n`,
  `insert into lanes select 'lane-' || n, n % 3, 'run-' || n, case when n % 2 = 0 then n end from generate_series(1, 5000) as n`,
  `insert into steps (run_id, seq, kind, name, status, attempt, "order", due_at, event_name, child_run_id, started_at)
    select 'run-' || n % 4000, n / 4000, 'sleep', 'nap', case when n % 50 = 0 then 'waiting' else 'completed' end, 1,
      case when n % 50 > 0 then n / 4000 end, case when n % 50 = 0 then n end, case when n % 50 = 0 then 'event-' || n % 9 end,
      case when n % 50 = 0 then 'run-' || n end, n
    from generate_series(1, 20000) as n`,
  `insert into approvals (id, run_id, kind, target_id, owner, name, status, created_at, expires_at)
    select 'approval-' || n, 'run-' || n % 3000, 'agent', 'target-' || n % 20, 'owner-' || n % 50, 'ask',
      case when n % 50 = 0 then 'pending' else 'approved' end, n, n from generate_series(1, 10000) as n`,
  `insert into events select n, 'run-' || n % 2000, 'session-' || n % 900, 'topic-' || n % 900, 'step', null, n, repeat('x', 100)
    from generate_series(1, 40000) as n`,
  `insert into idempotency (id, fingerprint, run_id, content_of, created_at, expires_at, status)
    select 'key-' || n, 'f', 'run-' || n, 'run-' || n, n, n, case when n % 100 > 0 then 200 end from generate_series(1, 20000) as n`,
  `insert into sessions (id, owner, user_id, agent_id, last_seq, created_at, updated_at, metadata)
    select 'session-' || n, 'owner-' || n % 50, 'user-' || n % 50, 'target-' || n % 20, 0, n, n, '{}' from generate_series(1, 9000) as n`,
  `insert into session_fields select 'metadata.tier', 'tier-' || n % 50, n, 'session-' || n from generate_series(1, 9000) as n`,
  `insert into messages select 'session-' || n % 900, n / 900, 'message-' || n, 'user', null, n, '{}' from generate_series(1, 9000) as n`,
  `insert into tokens (id, digest, name, subject, env, scopes, created_at, created_by, last4, parent_id, replaced_by)
    select 'token-' || n, 'digest-' || n, 'n', 'owner-' || n % 50, 'live', '[]', n, 'me', '1234', 'token-' || n / 2,
      case when n % 5 = 0 then 'token-' || n + 1 end from generate_series(1, 5000) as n`,
  `insert into deleted_usage select 'owner-' || n, n % 9, 1, 0 from generate_series(1, 5000) as n`,
  `insert into subject_revocations (subject, issued_until, revoked_at, revoked_by)
    select 'owner-' || n, n, n, 'ops' from generate_series(1, 5000) as n`,
  `insert into triggers (id, kind, event, is_active, due_at, version, created_at, definition)
    select 'trigger-' || n, 'event', 'event-' || n % 90, 1, case when n % 9 = 0 then n end, 1, n, '{}' from generate_series(1, 3000) as n`,
  `insert into trigger_fires (id, trigger_id, scheduled_at, cause, status, run_id, created_at)
    select 'fire-' || n, 'trigger-' || n % 300, n, 'schedule', case when n % 50 = 0 then 'pending' when n % 50 = 1 then 'started' else 'completed' end,
      'run-' || n, n from generate_series(1, 15000) as n`,
  `insert into facts (id, namespace, owner, importance, weighed_at, fingerprint, source_run_id, source_session_id, created_at,
      updated_at, expires_at, revision, embedded_by, tags, metadata, words, text)
    select 'fact-' || n, 'space-' || n % 50, 'owner-' || n % 50, 0.5, n, 'print-' || n % 4000, 'run-' || n, 'session-' || n % 900, n, n,
      case when n % 20 = 0 then n end, 1, case when n % 50 > 0 then 'e' end, '{}', '{}',
      array['word-' || n % 2000, 'word-' || n % 1999], 'a text' from generate_series(1, 30000) as n`,
  `insert into extractions select 'session-' || n, 1 from generate_series(1, 3000) as n`,
  `insert into fact_vectors select 'fact-' || n, '\\x00000000' from generate_series(1, 10000) as n`,
  `insert into blocks select 'block-' || n, 'owner-' || n % 50, 'space-' || n % 50, 'label-' || n, 9, n, n, 'v' from generate_series(1, 5000) as n`,
  `insert into memory_conflicts select 'conflict-' || n, 'space-' || n % 50, 'owner-' || n % 50, 'fact-' || n, 'fact-' || n + 1,
      case when n % 50 = 0 then 'open' else 'resolved' end, n from generate_series(1, 5000) as n`,
  `insert into jobs (id, job_key, phase, session_id, attempts, due_at, is_again, created_at, failed_at)
    select 'job-' || n, 'key-' || n, 'extract', 'session-' || n, 0, n, 0, n, case when n % 9 > 0 then n end from generate_series(1, 5000) as n`,
  `insert into webhooks (id, version, created_at, definition) select 'webhook-' || n, 1, n, '{}' from generate_series(1, 50) as n`,
  `insert into webhook_deliveries (id, webhook_id, type, position, status, attempts, earlier_attempts, due_at, lease, created_at)
    select 'delivery-' || n, 'webhook-' || n % 50, 'run.completed', n,
      case when n % 100 < 2 then 'pending' when n % 100 = 2 then 'dead' else 'delivered' end,
      case when n % 100 = 0 then 0 else 1 end, 0, n, case when n % 1000 = 1 then 'lease' end, n from generate_series(1, 30000) as n`,
  `insert into files (id, owner, sha256, size, media_type, created_at, is_held, content)
    select 'file-' || n, 'owner-' || n % 50, 'hash-' || n % 9000, n, 'image/png', n, case when n % 100 = 0 then 0 else 1 end,
      case when n % 2 = 0 then '\\x00'::bytea end from generate_series(1, 20000) as n`,
  `insert into run_files select 'run-' || n % 900, 'file-' || n from generate_series(1, 20000) as n where n % 100 > 0`,
  `insert into chats (session_id, chat_id, agent_id, owner, first_text, last_seq, answer_seq, read_seq, created_at, updated_at)
    select 'session-' || n, 'chat-' || n, 'target-' || n % 20, 'owner-' || n % 50, 't', 2, 2, 0, n, n from generate_series(1, 9000) as n`,
  `insert into file_holders select 'file-' || n, 'session-' || n % 900 from generate_series(1, 20000) as n where n % 100 > 0`,
]
