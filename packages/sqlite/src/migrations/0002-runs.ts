import type { Migration } from './migration.ts'

export const runs: Migration = {
  version: 2,
  name: 'runs',
  sql: `
CREATE TABLE run_keys (
  key    INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE runs (
  key           INTEGER PRIMARY KEY REFERENCES run_keys (key),
  id            TEXT NOT NULL,
  kind          TEXT NOT NULL,
  target_id     TEXT NOT NULL,
  thread_id     TEXT,
  session_id    TEXT,
  owner         TEXT NOT NULL,
  user_id       TEXT,
  status        TEXT NOT NULL,
  finish_reason TEXT,
  attempt       INTEGER NOT NULL,
  timeout_ms    INTEGER,
  parent_run_id TEXT,
  trigger_id    TEXT,
  traceparent   TEXT,
  created_at    INTEGER NOT NULL,
  started_at    INTEGER,
  suspended_at  INTEGER,
  completed_at  INTEGER,
  usage         TEXT NOT NULL,
  metadata      TEXT NOT NULL,
  error         TEXT,
  input         TEXT NOT NULL,
  result        TEXT
) STRICT;

CREATE INDEX runs_by_creation ON runs (created_at, id);
CREATE INDEX runs_by_owner    ON runs (owner, created_at, id);
CREATE INDEX runs_by_target   ON runs (target_id, created_at, id);
CREATE INDEX runs_by_session  ON runs (session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX runs_active      ON runs (status, created_at, id)
  WHERE status = 'queued' OR status = 'running' OR status = 'suspended';
CREATE INDEX runs_unsuccessful ON runs (status, created_at, id)
  WHERE status = 'failed' OR status = 'aborted';
`,
}
