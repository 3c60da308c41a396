/**
 * Adds a golden database for every version that lacks one: `node --conditions=perdure-source
 * e2e/torture/make-golden.ts`. Existing files are never rewritten: they are what a release of that version left on
 * disk.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openConnection } from '../../packages/sqlite/src/file/connection.ts'
import { applyMigrations } from '../../packages/sqlite/src/file/migrate.ts'
import { MIGRATIONS } from '../../packages/sqlite/src/migrations/migrations.ts'
import { goldenFile } from './golden.ts'

const AT = Date.parse('2026-01-02T03:04:05.000Z')
const HASH = 'b'.repeat(64)

/** Rows for the tables that each migration created, in the columns of that version. */
const ROWS: Readonly<Record<number, string>> = {
  2: `
    INSERT INTO run_keys VALUES (1, 'run_done'), (2, 'run_waits'), (3, 'run_at_work');
    INSERT INTO runs (key, id, kind, target_id, thread_id, session_id, owner, status, finish_reason, attempt, created_at,
      started_at, completed_at, usage, metadata, input, result)
    VALUES
      (1, 'run_done', 'agent', 'ledger', NULL, 'ses_old', 'alice', 'completed', 'completed', 1, ${AT}, ${AT}, ${AT + 5},
       '{}', '{"k":"v"}', '{"name":"old"}', '{"answer":42}'),
      (2, 'run_waits', 'workflow', 'errand', 'thr_old', NULL, 'alice', 'suspended', NULL, 1, ${AT + 1}, ${AT + 1}, NULL,
       '{}', '{}', '{"name":"waits"}', NULL),
      (3, 'run_at_work', 'agent', 'ledger', NULL, NULL, 'alice', 'running', NULL, 1, ${AT + 2}, ${AT + 2}, NULL,
       '{}', '{}', '{"name":"at work"}', NULL);`,
  3: `
    INSERT INTO events (run_key, session_id, topic, type, phase, at, payload) VALUES
      (1, 'ses_old', NULL, 'run.started', NULL, ${AT}, '{"runId":"run_done","status":"running","attempt":1}'),
      (1, 'ses_old', NULL, 'run.completed', NULL, ${AT + 5}, '{"runId":"run_done","status":"completed","attempt":1}');`,
  4: `
    INSERT INTO idempotency (id, fingerprint, run_id, created_at, expires_at, status, content_type, body)
    VALUES ('a-key', '${HASH}', 'run_done', ${AT}, ${Date.parse('2096-01-01')}, 200, 'application/json', '{"ok":true}');`,
  5: `
    INSERT INTO sessions (id, owner, title, last_seq, created_at, updated_at, metadata)
    VALUES ('ses_old', 'alice', 'An old session', 2, ${AT}, ${AT + 5}, '{}');
    INSERT INTO messages (session_key, seq, id, role, run_id, created_at, content) VALUES
      (1, 1, 'msg_1', 'user', 'run_done', ${AT}, '{"name":"old"}'),
      (1, 2, 'msg_2', 'assistant', 'run_done', ${AT + 5}, '{"answer":42}');`,
  6: `
    INSERT INTO tokens (id, digest, name, subject, env, scopes, created_at, created_by, last4)
    VALUES ('tok_old', '${HASH}', 'old', 'alice', 'test', '["runs:read"]', ${AT}, 'operator', 'abcd');`,
  7: `
    INSERT INTO steps (run_key, seq, kind, name, status, attempt, "order", started_at, settled_at, result)
    VALUES (2, 1, 'step', 'first', 'completed', 1, 1, ${AT}, ${AT + 1}, '1');
    INSERT INTO steps (run_key, seq, kind, name, status, attempt, approval_id, started_at)
    VALUES (2, 2, 'approval', 'go', 'waiting', 1, 'apr_old', ${AT + 2});`,
  8: `
    INSERT INTO approvals (id, run_id, seq, kind, target_id, owner, name, title, status, created_at)
    VALUES ('apr_old', 'run_waits', 2, 'workflow', 'errand', 'alice', 'go', 'Go on?', 'pending', ${AT + 2});`,
  12: `
    INSERT INTO emissions (id, event_name, created_at, waits, payload) VALUES ('emi_old', 'nobody', ${AT}, '[]', '1');`,
  14: `
    INSERT INTO triggers (id, kind, event, is_active, version, created_at, definition)
    VALUES ('bell', 'event', 'ring', 0, 1, ${AT},
      '{"id":"bell","kind":"event","event":"ring","target":{"agentId":"ledger","input":{}},"enabled":false,"catchUp":"latest","maxCatchUp":10,"catchUpWindowMs":86400000,"overlap":"skip","jitterMs":0,"source":"api"}');
    INSERT INTO trigger_fires (id, trigger_id, scheduled_at, cause, status, fired_at, run_id, created_at)
    VALUES ('fire_old', 'bell', ${AT}, 'manual', 'completed', ${AT}, 'run_done', ${AT});`,
  15: `
    INSERT INTO mcp_servers (id, url, created_at, created_by) VALUES ('old', 'http://127.0.0.1:9/mcp', ${AT}, 'alice');`,
  16: `
    INSERT INTO facts (id, namespace, owner, importance, weighed_at, fingerprint, created_at, updated_at, revision, tags,
      metadata, text)
    VALUES ('mem_old', 'notes', 'alice', 0.5, ${AT}, '${HASH}', ${AT}, ${AT}, 1, '[]', '{}', 'Ships have anchors');
    INSERT INTO fact_words (rowid, words) VALUES (1, 'ships have anchors');
    INSERT INTO blocks (id, owner, namespace, label, "limit", created_at, updated_at, value)
    VALUES ('blk_old', 'alice', 'notes', 'persona', 2000, ${AT}, ${AT}, 'A sailor');`,
  17: `
    INSERT INTO jobs (id, job_key, phase, owner, attempts, due_at, is_again, created_at)
    VALUES ('job_old', 'decay', 'decay', 'alice', 0, ${Date.parse('2096-01-01')}, 0, ${AT});`,
  20: `
    INSERT INTO run_fields (field, value, run_at, run_key) VALUES ('metadata.k', 'v', ${AT}, 1);`,
  21: `
    UPDATE sessions SET metadata = '{"k":"v"}' WHERE key = 1;
    INSERT INTO session_fields (field, value, session_at, session_key) VALUES ('metadata.k', 'v', ${AT}, 1);`,
  23: `
    UPDATE runs SET priority = 5, flow = '{"concurrency":"ada"}' WHERE key = 3;
    INSERT INTO lanes (lane, slot, run_id, free_at) VALUES
      ('concurrency', 0, 'run_at_work', NULL),
      ('rate', 0, 'run_done', ${Date.parse('2096-01-01')});`,
  24: `
    UPDATE runs SET execution = 1 WHERE key IN (1, 2);
    UPDATE runs SET execution = 2, executor = 'node-1' WHERE key = 3;
    INSERT INTO run_follow_ups VALUES (1);
    UPDATE idempotency SET executor = 'node-1', patient_until = ${AT} WHERE id = 'a-key';`,
  25: `
    INSERT INTO webhooks (id, version, created_at, definition)
    VALUES ('hook_old', 1, ${AT},
      '{"url":"https://example.com/hooks","events":["run.completed"],"owner":"alice","source":"api","secrets":[],"position":2,"disabledAt":${AT},"createdBy":"alice"}');
    INSERT INTO webhook_deliveries (id, webhook_id, type, position, status, attempts, earlier_attempts, due_at,
      response_status, ended_at, created_at)
    VALUES ('msg_old', 'hook_old', 'run.completed', 2, 'delivered', 1, 0, ${AT}, 204, ${AT + 6}, ${AT + 5});`,
  30: `
    INSERT INTO files (id, owner, sha256, size, media_type, name, created_at, is_held, content)
    VALUES ('file_old', 'alice', '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824', 5, 'text/plain',
      'hello.txt', ${AT}, 1, x'68656C6C6F');
    INSERT INTO file_holders (file_id, session_id) VALUES ('file_old', 'ses_old');`,
  31: `
    INSERT INTO chats (session_id, chat_id, agent_id, owner, first_text, last_role, last_text, last_at, last_seq, answer_seq,
      read_seq, created_at, updated_at)
    VALUES ('ses_old', 'chat-old', 'ledger', 'alice', 'old', 'assistant', '42', ${AT + 5}, 2, 2, 0, ${AT}, ${AT + 5});`,
  32: `
    INSERT INTO subject_revocations VALUES ('jwt:app:alice', ${AT}, ${AT + 1}, 'ops');`,
  33: `
    INSERT INTO files (id, owner, sha256, size, media_type, name, created_at, is_held, content)
    VALUES ('file_result', 'alice', '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9', 1, 'application/json',
      'second.json', ${AT}, 1, x'30');
    INSERT INTO steps (run_key, seq, kind, name, status, attempt, "order", started_at, settled_at, result_file)
    VALUES (1, 1, 'step', 'second', 'completed', 1, 1, ${AT}, ${AT + 1}, '{"id":"file_result","bytes":1}');
    INSERT INTO run_files (run_id, file_id) VALUES ('run_done', 'file_result');`,
  34: `
    UPDATE runs SET caller = '{"name":"Alice","claims":{"plan":"pro"}}' WHERE id = 'run_done';
    INSERT INTO deleted_usage VALUES ('alice', 20455, 2, 0.5);`,
  35: `
    INSERT INTO hook_deliveries VALUES ('hkd_old', 'shop', 'evt_old', 'dead', 'input: a bug', NULL, '[]', 0, ${AT}, ${AT},
      '{"content-type":"application/json"}', '"{\\"order\\":7}"');
    INSERT INTO trigger_fires (id, trigger_id, scheduled_at, cause, status, fired_at, run_id, created_at, session_id)
    VALUES ('fire_in_session', 'bell', ${AT + 1}, 'event', 'completed', ${AT + 1}, 'run_done', ${AT + 1}, 'ses_old');`,
  36: `
    UPDATE approvals SET assignee = 'user', escalate_to = 'staff', remind_at = ${Date.parse('2096-01-01')},
      args_schema = 'true', args = '{"amount":60}' WHERE id = 'apr_old';`,
  37: `
    INSERT INTO deleted_usage VALUES ('alice', 20456, 1, 0.25);`,
}

const folder = mkdtempSync(join(tmpdir(), 'perdure-golden-'))
for (const { version } of MIGRATIONS) {
  const target = goldenFile(version)
  if (existsSync(target)) continue
  mkdirSync(dirname(target), { recursive: true })
  const path = join(folder, `${version}.db`)
  const { database } = openConnection(path)
  applyMigrations(database, { path, now: () => AT, migrations: MIGRATIONS.slice(0, version) })
  for (let made = 1; made <= version; made++) database.exec(ROWS[made] ?? '')
  database.close()
  writeFileSync(target, gzipSync(readFileSync(path), { level: 9 }))
  console.log(target)
}
rmSync(folder, { recursive: true })
