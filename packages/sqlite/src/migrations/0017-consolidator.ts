import type { Migration } from './migration.ts'

export const consolidator: Migration = {
  version: 17,
  name: 'consolidator',
  sql: `
CREATE TABLE jobs (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  job_key    TEXT NOT NULL,
  phase      TEXT NOT NULL,
  owner      TEXT,
  session_id TEXT,
  attempts   INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,
  lease      TEXT,
  is_again   INTEGER NOT NULL,
  error      TEXT,
  created_at INTEGER NOT NULL,
  failed_at  INTEGER
) STRICT;

CREATE UNIQUE INDEX jobs_alive ON jobs (job_key) WHERE failed_at IS NULL;
CREATE INDEX jobs_due          ON jobs (due_at, id) WHERE failed_at IS NULL;
CREATE INDEX jobs_dead         ON jobs (created_at, id) WHERE failed_at IS NOT NULL;
CREATE INDEX jobs_by_session   ON jobs (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE changed_sessions (
  session_id TEXT PRIMARY KEY,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX changed_sessions_by_change ON changed_sessions (changed_at, session_id);

CREATE TABLE extractions (
  session_id  TEXT PRIMARY KEY,
  through_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE consolidation_spend (
  day      TEXT PRIMARY KEY,
  tokens   INTEGER NOT NULL,
  cost_usd REAL NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO changed_sessions SELECT id, updated_at FROM sessions;

CREATE TRIGGER sessions_made AFTER INSERT ON sessions
BEGIN
  INSERT OR REPLACE INTO changed_sessions VALUES (new.id, new.updated_at);
END;

CREATE TRIGGER sessions_changed AFTER UPDATE OF updated_at ON sessions
BEGIN
  INSERT OR REPLACE INTO changed_sessions VALUES (new.id, new.updated_at);
END;
`,
}
