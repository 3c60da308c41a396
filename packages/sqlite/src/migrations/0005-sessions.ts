import type { Migration } from './migration.ts'

export const sessions: Migration = {
  version: 5,
  name: 'sessions',
  sql: `
CREATE TABLE sessions (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  owner      TEXT NOT NULL,
  title      TEXT,
  user_id    TEXT,
  agent_id   TEXT,
  last_seq   INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  metadata   TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_by_creation ON sessions (created_at, id);
CREATE INDEX sessions_by_owner    ON sessions (owner, created_at, id);

CREATE TABLE messages (
  key         INTEGER PRIMARY KEY,
  session_key INTEGER NOT NULL REFERENCES sessions (key),
  seq         INTEGER NOT NULL,
  id          TEXT NOT NULL,
  role        TEXT NOT NULL,
  run_id      TEXT,
  created_at  INTEGER NOT NULL,
  content     TEXT NOT NULL,
  UNIQUE (session_key, seq)
) STRICT;
`,
}
