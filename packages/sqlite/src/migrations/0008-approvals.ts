import type { Migration } from './migration.ts'

export const approvals: Migration = {
  version: 8,
  name: 'approvals',
  sql: `
CREATE TABLE approvals (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  run_id       TEXT NOT NULL,
  seq          INTEGER,
  kind         TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  session_id   TEXT,
  owner        TEXT NOT NULL,
  name         TEXT NOT NULL,
  title        TEXT,
  tool_call_id TEXT,
  status       TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  resolved_at  INTEGER,
  "by"         TEXT,
  reason       TEXT,
  payload      TEXT,
  decision     TEXT
) STRICT;

CREATE INDEX approvals_by_creation ON approvals (created_at, id);
CREATE INDEX approvals_by_owner    ON approvals (owner, created_at, id);
CREATE INDEX approvals_by_run      ON approvals (run_id, created_at, id);
CREATE INDEX approvals_pending     ON approvals (created_at, id) WHERE status = 'pending';
CREATE INDEX approvals_pending_by_owner ON approvals (owner, created_at, id) WHERE status = 'pending';
`,
}
