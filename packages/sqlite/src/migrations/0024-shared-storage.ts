import type { Migration } from './migration.ts'

/**
 * Columns for what a process can no longer keep in memory alone when other processes may write to the storage. All
 * columns of `runs` that are not large are again before the large ones, because SQLite walks all pages of a long text to
 * reach a column behind it. This needs a copy of the table, and of `run_fields`, which refers to it.
 *
 * `runs_active_thread` cannot find two active runs in a thread: one process owned the file and locked threads in memory.
 * `run_follow_ups` names the ended runs with follow-ups that are not done; at first, those that a crash has cut off. It is
 * a table, because to clear a column of a run SQLite would write all long texts of the run again.
 */
export const sharedStorage: Migration = {
  version: 24,
  name: 'shared-storage',
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
  execution     INTEGER NOT NULL DEFAULT 0,
  executor      TEXT,
  retries       INTEGER,
  timeout_ms    INTEGER,
  depth         INTEGER NOT NULL DEFAULT 0,
  parent_run_id TEXT,
  parent_seq    INTEGER,
  fork_run_id   TEXT,
  fork_seq      INTEGER,
  trigger_id    TEXT,
  traceparent   TEXT,
  priority      INTEGER,
  flow          TEXT,
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

INSERT INTO rebuilt_runs (key, id, kind, target_id, version, thread_id, session_id, owner, user_id, status,
    finish_reason, attempt, retries, timeout_ms, depth, parent_run_id, parent_seq, fork_run_id, fork_seq,
    trigger_id, traceparent, priority, flow, created_at, start_at, started_at, suspended_at, completed_at, deadline_at,
    usage, budget, abort_reason, metadata, parked, error, input, result, suspension, resumption)
  SELECT key, id, kind, target_id, version, thread_id, session_id, owner, user_id, status,
    finish_reason, attempt, retries, timeout_ms, depth, parent_run_id, parent_seq, fork_run_id, fork_seq,
    trigger_id, traceparent, priority, flow, created_at, start_at, started_at, suspended_at, completed_at, deadline_at,
    usage, budget, abort_reason, metadata, parked, error, input, result, suspension, resumption FROM runs;

CREATE TABLE rebuilt_run_fields (
  field   TEXT NOT NULL,
  value   TEXT NOT NULL,
  run_at  INTEGER NOT NULL, -- when the run was created
  run_key INTEGER NOT NULL REFERENCES rebuilt_runs (key) ON DELETE CASCADE,
  PRIMARY KEY (field, value, run_at, run_key)
) STRICT, WITHOUT ROWID;

INSERT INTO rebuilt_run_fields SELECT field, value, run_at, run_key FROM run_fields;

DROP TABLE run_fields;
DROP TABLE runs;
ALTER TABLE rebuilt_runs RENAME TO runs;
ALTER TABLE rebuilt_run_fields RENAME TO run_fields;

CREATE INDEX run_fields_by_run ON run_fields (run_key);
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
CREATE UNIQUE INDEX runs_active_thread ON runs (thread_id, target_id)
  WHERE thread_id IS NOT NULL AND kind = 'workflow' AND status NOT IN ('completed', 'failed', 'aborted');

ALTER TABLE idempotency ADD COLUMN executor TEXT;
ALTER TABLE idempotency ADD COLUMN patient_until INTEGER;

CREATE TABLE run_follow_ups (
  run_key INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE
) STRICT;

INSERT INTO run_follow_ups SELECT key FROM runs
  WHERE status IN ('completed', 'failed', 'aborted') AND (
    id IN (SELECT child_run_id FROM steps WHERE status = 'waiting' AND child_run_id IS NOT NULL)
    OR id IN (SELECT parent_run_id FROM runs WHERE status NOT IN ('completed', 'failed', 'aborted'))
    OR id IN (SELECT run_id FROM approvals WHERE status = 'pending'));
`,
}
