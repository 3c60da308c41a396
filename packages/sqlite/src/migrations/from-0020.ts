import type { Migration } from './migration.ts'

export const FROM_0020: readonly Migration[] = [
  /**
   * Columns for retries, forks, versions and parked runs. The members of a run that can be large are now its last columns,
   * because SQLite walks all pages of a long text to reach a column behind it.
   *
   * `run_fields` is an index from values of a run to the run. It has a row for each value that a list can filter by and
   * that has no column with an index, so a run without such values has no row.
   */
  {
    version: 20,
    name: 'repairable-runs',
    sql: `
CREATE TABLE rebuilt_runs (
  key           INTEGER PRIMARY KEY REFERENCES run_keys (key),
  id            TEXT NOT NULL,
  kind          TEXT NOT NULL,
  target_id     TEXT NOT NULL,
  version       TEXT,
  thread_id     TEXT,
  session_id    TEXT,
  owner         TEXT NOT NULL,
  user_id       TEXT,
  status        TEXT NOT NULL,
  finish_reason TEXT,
  attempt       INTEGER NOT NULL,
  retries       INTEGER,
  timeout_ms    INTEGER,
  depth         INTEGER NOT NULL DEFAULT 0,
  parent_run_id TEXT,
  parent_seq    INTEGER,
  fork_run_id   TEXT,
  fork_seq      INTEGER,
  trigger_id    TEXT,
  traceparent   TEXT,
  created_at    INTEGER NOT NULL,
  start_at      INTEGER,
  started_at    INTEGER,
  suspended_at  INTEGER,
  completed_at  INTEGER,
  deadline_at   INTEGER,
  usage         TEXT NOT NULL,
  budget        TEXT,
  abort_reason  TEXT,
  metadata      TEXT NOT NULL,
  parked        TEXT,
  error         TEXT,
  input         TEXT NOT NULL,
  result        TEXT,
  suspension    TEXT,
  resumption    TEXT
) STRICT;

INSERT INTO rebuilt_runs (key, id, kind, target_id, thread_id, session_id, owner, user_id, status, finish_reason, attempt,
    timeout_ms, depth, parent_run_id, parent_seq, trigger_id, traceparent, created_at, started_at, suspended_at,
    completed_at, deadline_at, usage, budget, metadata, error, input, result, suspension, resumption)
  SELECT key, id, kind, target_id, thread_id, session_id, owner, user_id, status, finish_reason, attempt,
    timeout_ms, depth, parent_run_id, parent_seq, trigger_id, traceparent, created_at, started_at, suspended_at,
    completed_at, deadline_at, usage, budget, metadata, error, input, result, suspension, resumption FROM runs;

DROP TABLE runs;
ALTER TABLE rebuilt_runs RENAME TO runs;

CREATE INDEX runs_by_creation ON runs (created_at, id);
CREATE INDEX runs_by_owner    ON runs (owner, created_at, id);
CREATE INDEX runs_by_target   ON runs (target_id, created_at, id);
CREATE INDEX runs_by_session  ON runs (session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX runs_active      ON runs (status, created_at, id)
  WHERE status = 'queued' OR status = 'running' OR status = 'suspended';
CREATE INDEX runs_unsuccessful ON runs (status, created_at, id)
  WHERE status = 'failed' OR status = 'aborted';
CREATE INDEX runs_by_thread   ON runs (thread_id, created_at, id) WHERE thread_id IS NOT NULL;
CREATE INDEX runs_by_parent   ON runs (parent_run_id, created_at, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_by_deadline ON runs (deadline_at)
  WHERE deadline_at IS NOT NULL AND status NOT IN ('completed', 'failed', 'aborted');
CREATE INDEX runs_asked_for   ON runs (completed_at)
  WHERE trigger_id IS NULL AND parent_run_id IS NULL AND completed_at IS NOT NULL;
CREATE INDEX runs_busy_by_session ON runs (session_id)
  WHERE session_id IS NOT NULL AND (status = 'queued' OR status = 'running' OR status = 'suspended');
CREATE INDEX runs_by_start    ON runs (start_at) WHERE start_at IS NOT NULL AND +status = 'queued';
CREATE INDEX runs_parked      ON runs (created_at, id)
  WHERE parked IS NOT NULL AND parked <> 'null' AND +status = 'suspended';

CREATE TABLE run_fields (
  field   TEXT NOT NULL,
  value   TEXT NOT NULL,
  run_at  INTEGER NOT NULL, -- when the run was created
  run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
  PRIMARY KEY (field, value, run_at, run_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_fields_by_run ON run_fields (run_key);

INSERT INTO run_fields (field, value, run_at, run_key)
  SELECT 'metadata.' || member.key, member.value, runs.created_at, runs.key
  FROM runs, json_each(runs.metadata) AS member WHERE runs.metadata <> '{}';
INSERT INTO run_fields (field, value, run_at, run_key)
  SELECT 'userId', user_id, created_at, key FROM runs WHERE user_id IS NOT NULL;
INSERT INTO run_fields (field, value, run_at, run_key)
  SELECT 'finishReason', finish_reason, created_at, key FROM runs
  WHERE finish_reason IS NOT NULL AND finish_reason <> 'completed';
INSERT INTO run_fields (field, value, run_at, run_key)
  SELECT 'code', coalesce(error ->> 'code', error ->> 'kind'), created_at, key FROM runs
  WHERE coalesce(error ->> 'code', error ->> 'kind') IS NOT NULL;
`,
  },
  /**
   * Indexes for the filters of the list of sessions. `session_fields` is an index from the metadata of a session to the
   * session: it has a row for each member, so a session without metadata has no row.
   */
  {
    version: 21,
    name: 'found-sessions',
    sql: `
CREATE INDEX sessions_by_user  ON sessions (user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX sessions_by_agent ON sessions (agent_id, created_at, id) WHERE agent_id IS NOT NULL;

CREATE TABLE session_fields (
  field       TEXT NOT NULL,
  value       TEXT NOT NULL,
  session_at  INTEGER NOT NULL, -- when the session was created
  session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  PRIMARY KEY (field, value, session_at, session_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_fields_by_session ON session_fields (session_key);

INSERT INTO session_fields (field, value, session_at, session_key)
  SELECT 'metadata.' || member.key, member.value, sessions.created_at, sessions.key
  FROM sessions, json_each(sessions.metadata) AS member WHERE sessions.metadata <> '{}';
`,
  },
  /**
   * The usage in the record of a run includes that of all runs below it. Records of ended runs did so already; for an open
   * run, the usage of ended children was in its calls, and that of open children only in their records.
   */
  {
    version: 22,
    name: 'usage-of-children',
    sql: `
CREATE TABLE usage_below AS
  WITH RECURSIVE
    tree (top, key, id) AS (
      SELECT key, key, id FROM runs WHERE status = 'queued' OR status = 'running' OR status = 'suspended'
      UNION ALL
      SELECT tree.top, runs.key, runs.id FROM tree JOIN runs ON runs.parent_run_id = tree.id
      WHERE runs.status = 'queued' OR runs.status = 'running' OR runs.status = 'suspended'
    ),
    part (top, usage) AS (
      SELECT tree.top, runs.usage FROM tree JOIN runs ON runs.key = tree.key WHERE tree.key <> tree.top
      UNION ALL
      SELECT tree.top, steps.usage FROM tree JOIN steps ON steps.run_key = tree.key WHERE steps.usage IS NOT NULL
      UNION ALL
      SELECT tree.top, runs.usage FROM tree
        JOIN steps ON steps.run_key = tree.key AND steps.child_run_id IS NOT NULL AND steps.usage IS NULL
        JOIN run_keys ON run_keys.run_id = steps.child_run_id
        JOIN runs ON runs.key = run_keys.key
      WHERE runs.status NOT IN ('queued', 'running', 'suspended')
    )
  SELECT top AS key,
    sum(coalesce(usage ->> 'inputTokens', 0)) AS input_tokens, sum(coalesce(usage ->> 'outputTokens', 0)) AS output_tokens,
    sum(coalesce(usage ->> 'costUsd', 0)) AS cost_usd, sum(coalesce(usage ->> 'toolCalls', 0)) AS tool_calls
  FROM part GROUP BY top;

UPDATE runs SET usage = json_object(
    'inputTokens', coalesce(usage ->> 'inputTokens', 0) + below.input_tokens,
    'outputTokens', coalesce(usage ->> 'outputTokens', 0) + below.output_tokens,
    'costUsd', coalesce(usage ->> 'costUsd', 0) + below.cost_usd,
    'toolCalls', coalesce(usage ->> 'toolCalls', 0) + below.tool_calls)
  FROM usage_below AS below WHERE below.key = runs.key;

DROP TABLE usage_below;
`,
  },
  /**
   * Columns for the priority of a run and for the values by which flow control groups it. They are behind the large
   * columns, because any other position would need a copy of the whole table. Only for a run that has such a value does
   * SQLite walk the pages of its long texts.
   *
   * `lanes` has a row for each taken slot. A slot with `free_at` outlives its run, so a row names the run by its id.
   */
  {
    version: 23,
    name: 'flow-control',
    sql: `
ALTER TABLE runs ADD COLUMN priority INTEGER;
ALTER TABLE runs ADD COLUMN flow TEXT;

CREATE TABLE lanes (
  lane    TEXT NOT NULL,
  slot    INTEGER NOT NULL,
  run_id  TEXT NOT NULL,
  free_at INTEGER,
  PRIMARY KEY (lane, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX lanes_held ON lanes (run_id) WHERE free_at IS NULL;
CREATE INDEX lanes_free ON lanes (free_at) WHERE free_at IS NOT NULL;
`,
  },
]
