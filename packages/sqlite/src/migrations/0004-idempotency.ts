import type { Migration } from './migration.ts'

export const idempotency: Migration = {
  version: 4,
  name: 'idempotency',
  sql: `
CREATE TABLE idempotency (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  fingerprint  TEXT NOT NULL,
  run_id       TEXT,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  status       INTEGER,
  location     TEXT,
  content_type TEXT,
  body         TEXT
) STRICT;

CREATE INDEX idempotency_executing ON idempotency (run_id) WHERE status IS NULL;
CREATE INDEX idempotency_answered  ON idempotency (expires_at) WHERE status IS NOT NULL;
`,
}
