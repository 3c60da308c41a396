import type { Migration } from './migration.ts'

export const events: Migration = {
  version: 3,
  name: 'events',
  sql: `
CREATE TABLE events (
  position   INTEGER PRIMARY KEY AUTOINCREMENT,
  run_key    INTEGER REFERENCES run_keys (key),
  session_id TEXT,
  topic      TEXT,
  type       TEXT NOT NULL,
  phase      TEXT,
  at         INTEGER NOT NULL,
  payload    TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_run     ON events (run_key) WHERE run_key IS NOT NULL;
CREATE INDEX events_by_session ON events (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX events_by_topic   ON events (topic) WHERE topic IS NOT NULL;
`,
}
