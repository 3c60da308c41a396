import type { Migration } from './migration.ts'

export const steps: Migration = {
  version: 7,
  name: 'steps',
  sql: `
CREATE TABLE steps (
  key          INTEGER PRIMARY KEY,
  run_key      INTEGER NOT NULL REFERENCES run_keys (key),
  seq          INTEGER NOT NULL,
  kind         TEXT NOT NULL,
  name         TEXT NOT NULL,
  status       TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  "order"      INTEGER,
  due_at       INTEGER,
  event_name   TEXT,
  approval_id  TEXT,
  child_run_id TEXT,
  started_at   INTEGER NOT NULL,
  settled_at   INTEGER,
  error        TEXT,
  result       TEXT,
  UNIQUE (run_key, seq)
) STRICT;

CREATE INDEX steps_settled ON steps (run_key, "order") WHERE "order" IS NOT NULL;
CREATE INDEX steps_due ON steps (due_at)
  WHERE status = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX steps_by_event ON steps (event_name, started_at)
  WHERE status = 'waiting' AND event_name IS NOT NULL;
CREATE INDEX steps_by_run_and_event ON steps (run_key, event_name, started_at)
  WHERE status = 'waiting' AND event_name IS NOT NULL;
CREATE INDEX steps_by_child ON steps (child_run_id)
  WHERE status = 'waiting' AND child_run_id IS NOT NULL;
`,
}
