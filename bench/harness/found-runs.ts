import Database from 'better-sqlite3'

/** A caller with few runs, all of which are old. */
export const TINY = 'tiny'
/** An agent with few runs. */
export const OWN_AGENT = 'reports'
export const SESSIONS = 100_000
/** Runs with metadata that no other run has; the oldest ones, so that a list meets them last. */
export const RARE_RUNS = 20
const TINY_RUNS = 100

const FROM = Date.parse('2026-01-01T00:00:00Z')
const INTERVAL_MS = 250

/** When run `n` was created. */
export const at = (n: number): number => FROM + Math.floor(n) * INTERVAL_MS

export const idOf = (n: number): string => `run_${String(Math.floor(n)).padStart(26, '0')}`

/** Fills an empty database with runs and sessions. Returns how long that took, in milliseconds. */
export function fillRuns(path: string, runs: number): number {
  const from = performance.now()
  const db = new Database(path)
  db.pragma('synchronous = off')
  if (db.prepare('SELECT 1 FROM runs LIMIT 1').get() === undefined) {
    db.transaction(() => {
      db.exec(sessionRows())
      db.exec(runRows(runs))
      for (const fields of fieldRows()) db.exec(fields)
    })()
    db.pragma('wal_checkpoint(truncate)')
  }
  db.close()
  return Math.round(performance.now() - from)
}

const numbers = (count: number) =>
  `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})`

const METADATA = (tickets: string) =>
  `CASE WHEN n < ${RARE_RUNS} THEN json_object('env', 'prod', 'ticket', ${tickets}, 'rare', '1')
    WHEN n % 50 = 3 THEN json_object('env', 'test', 'ticket', ${tickets})
    ELSE json_object('env', 'prod', 'ticket', ${tickets}) END`

const OWNER = `CASE WHEN n < ${TINY_RUNS} THEN '${TINY}' WHEN n % 50 = 3 THEN 'user-' || (n % 2000) WHEN n % 2 = 0 THEN 'alice' ELSE 'bob' END`
const USER = `CASE WHEN n < ${TINY_RUNS} THEN NULL WHEN n % 5 = 0 THEN 'popular' WHEN n % 5 < 3 THEN 'user-' || (n % 50000) END`

const sessionRows = () => `
  INSERT INTO sessions (key, id, owner, user_id, agent_id, last_seq, created_at, updated_at, metadata)
  ${numbers(SESSIONS)}
  SELECT n + 1, 'ses_' || n, ${OWNER}, ${USER},
    CASE WHEN n < 50 THEN '${OWN_AGENT}' ELSE 'triage' END, 0, ${FROM} + n * ${INTERVAL_MS * 10},
    ${FROM} + n * ${INTERVAL_MS * 10}, ${METADATA("'' || n")}
  FROM numbers;
  INSERT INTO session_fields (field, value, session_at, session_key)
  SELECT 'metadata.' || member.key, member.value, created_at, sessions.key FROM sessions, json_each(metadata) AS member
  ORDER BY 1, 2, 3, 4;`

const STATUS = `CASE WHEN n % 12 = 5 THEN 'failed' WHEN n % 60 = 7 THEN 'aborted' WHEN n % 1000 = 1 THEN 'suspended'
  WHEN n % 20000 = 3 THEN 'queued' ELSE 'completed' END`

const runRows = (runs: number) => `
  INSERT INTO run_keys (key, run_id) ${numbers(runs)} SELECT n + 1, printf('run_%026d', n) FROM numbers;
  INSERT INTO runs (key, id, kind, target_id, version, session_id, owner, user_id, status, finish_reason, attempt,
    created_at, started_at, completed_at, usage, metadata, error, input, result)
  ${numbers(runs)},
  states AS (SELECT n, ${STATUS} AS status FROM numbers)
  SELECT n + 1, printf('run_%026d', n), CASE WHEN n % 10 = 9 THEN 'workflow' ELSE 'agent' END,
    CASE WHEN n < 50 THEN '${OWN_AGENT}' WHEN n % 10 = 9 THEN 'nightly' WHEN n % 3 = 0 THEN 'echo' ELSE 'triage' END,
    CASE WHEN n % 2 = 0 THEN '2' END,
    CASE WHEN n % 50 = 0 THEN 'ses_0' WHEN n % 4 = 0 THEN 'ses_' || (n % ${SESSIONS}) END,
    ${OWNER}, ${USER}, status,
    CASE status WHEN 'completed' THEN 'completed' WHEN 'failed' THEN CASE WHEN n % 24 = 5 THEN 'timeout' ELSE 'error' END
      WHEN 'aborted' THEN 'aborted' END,
    1, ${FROM} + n * ${INTERVAL_MS}, ${FROM} + n * ${INTERVAL_MS},
    CASE WHEN status IN ('completed', 'failed', 'aborted') THEN ${FROM} + n * ${INTERVAL_MS} + 2000 END,
    '{"inputTokens":812,"outputTokens":164,"costUsd":0.0041,"toolCalls":2}', ${METADATA("'' || n")},
    CASE WHEN status = 'failed' THEN json_object('code', CASE WHEN n % 24 = 5 THEN 'timeout' ELSE 'run-failed' END,
      'message', 'The service did not answer within 30 seconds.') END,
    '{"text":"Please look at my last invoice, it lists an item that I have not ordered."}',
    CASE WHEN status = 'completed' THEN '{"text":"The item was ordered on 3 May and delivered on 7 May."}' END
  FROM states;`

const FIELDS: readonly string[] = [
  `SELECT 'metadata.' || member.key, member.value, created_at, runs.key FROM runs, json_each(metadata) AS member`,
  `SELECT 'userId', user_id, created_at, key FROM runs WHERE user_id IS NOT NULL`,
  `SELECT 'version', version, created_at, key FROM runs WHERE version IS NOT NULL`,
  `SELECT 'tag', 'slow', created_at, key FROM runs WHERE key % 3 = 0 AND key > 100`,
  `SELECT 'finishReason', finish_reason, created_at, key FROM runs WHERE finish_reason <> 'completed'`,
  `SELECT 'code', error ->> 'code', created_at, key FROM runs WHERE error IS NOT NULL`,
]

const fieldRows = (): readonly string[] =>
  FIELDS.map((rows) => `INSERT INTO run_fields (field, value, run_at, run_key) ${rows} ORDER BY 1, 2, 3, 4`)
