import type { Migration } from './migration.ts'

export const triggers: Migration = {
  version: 14,
  name: 'triggers',
  sql: `
CREATE TABLE triggers (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  kind         TEXT NOT NULL,
  event        TEXT,
  is_active    INTEGER NOT NULL,
  due_at       INTEGER,
  last_fire_id TEXT,
  last_status  TEXT,
  version      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  definition   TEXT NOT NULL
) STRICT;

CREATE INDEX triggers_by_creation ON triggers (created_at, id);
CREATE INDEX triggers_due         ON triggers (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX triggers_by_event    ON triggers (event, id) WHERE event IS NOT NULL;

CREATE TABLE trigger_fires (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  trigger_id   TEXT NOT NULL REFERENCES triggers (id),
  scheduled_at INTEGER NOT NULL,
  cause        TEXT NOT NULL,
  status       TEXT NOT NULL,
  input        TEXT,
  fired_at     INTEGER,
  run_id       TEXT,
  reason       TEXT,
  created_at   INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX trigger_fires_once   ON trigger_fires (trigger_id, scheduled_at) WHERE cause = 'schedule';
CREATE INDEX trigger_fires_by_trigger    ON trigger_fires (trigger_id, created_at, id);
CREATE INDEX trigger_fires_pending       ON trigger_fires (trigger_id, id) WHERE status = 'pending';
CREATE INDEX trigger_fires_started       ON trigger_fires (trigger_id, created_at, id) WHERE status = 'started';
CREATE INDEX trigger_fires_over          ON trigger_fires (created_at)
  WHERE status <> 'pending' AND status <> 'started';

CREATE INDEX trigger_fires_by_run        ON trigger_fires (run_id) WHERE run_id IS NOT NULL;

CREATE INDEX runs_asked_for ON runs (completed_at)
  WHERE trigger_id IS NULL AND parent_run_id IS NULL AND completed_at IS NOT NULL;
`,
}
