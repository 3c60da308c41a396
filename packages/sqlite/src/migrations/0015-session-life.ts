import type { Migration } from './migration.ts'

export const sessionLife: Migration = {
  version: 15,
  name: 'session-life',
  sql: `
CREATE INDEX sessions_by_activity ON sessions (updated_at, id);
CREATE INDEX runs_busy_by_session ON runs (session_id)
  WHERE session_id IS NOT NULL AND (status = 'queued' OR status = 'running' OR status = 'suspended');

ALTER TABLE idempotency ADD COLUMN content_of TEXT;
UPDATE idempotency SET content_of = run_id;
CREATE INDEX idempotency_by_content ON idempotency (content_of) WHERE content_of IS NOT NULL;

CREATE TABLE mcp_servers (
  key         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  url         TEXT NOT NULL,
  headers_ref TEXT,
  created_at  INTEGER NOT NULL,
  created_by  TEXT NOT NULL
) STRICT;
`,
}
