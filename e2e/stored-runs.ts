import { DatabaseSync } from 'node:sqlite'
import { fillRuns, SESSIONS } from '../bench/harness/found-runs.ts'
import { openSqliteStorage } from '../packages/sqlite/src/index.ts'

const MESSAGES = 5
const STEPS = 3

const numbers = (count: number) =>
  `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`

/** Fills a new database file with runs, each with events, fields and an answered key, and with sessions and messages. */
export async function storeRuns(path: string, runs: number): Promise<void> {
  await (await openSqliteStorage({ path })).close()
  fillRuns(path, runs)
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA synchronous = OFF; BEGIN; ${rowsOf(Date.now())} COMMIT`)
  database.close()
}

const rowsOf = (now: number) => `
  INSERT INTO events (run_key, topic, type, at, payload)
  SELECT key, 'agent:' || target_id || '/events', type, ${now}, '{"text":"ä😀 of run ' || key || '"}'
  FROM runs, (SELECT 'run.started' AS type UNION ALL SELECT 'run.completed') ORDER BY key;
  INSERT INTO idempotency (id, fingerprint, run_id, created_at, expires_at, status, content_type, body)
  SELECT printf('%064d', key), printf('%064d', key), id, ${now}, ${now} + 86400000, 200, 'application/json',
    json_object('runId', id, 'status', status) FROM runs;
  INSERT INTO steps (run_key, seq, kind, name, status, attempt, "order", started_at, settled_at, result)
  ${numbers(STEPS)} SELECT key, n, 'step', 'step ' || n, 'completed', 1, n, created_at, created_at, json_object('n', n)
  FROM runs, numbers WHERE kind = 'workflow' ORDER BY key, n;
  INSERT INTO messages (session_key, seq, id, role, created_at, content)
  ${numbers(MESSAGES)} SELECT key, n, 'msg_' || key || '_' || n, 'user', created_at,
    json_array(json_object('type', 'text', 'text', 'message ' || n)) FROM sessions, numbers ORDER BY key, n;
  UPDATE sessions SET last_seq = ${MESSAGES};`

/** The rows of some tables that `storeRuns` stores. */
export const storedRows = (runs: number) => ({
  ...{ runs, idempotency: runs, events: 2 * runs },
  ...{ sessions: SESSIONS, messages: MESSAGES * SESSIONS, steps: STEPS * Math.floor(runs / 10) },
})
