import type { Migration } from './migration.ts'

/** Deliveries that hooks have received, and the session that a fire gives its run. */
export const hookDeliveries: Migration = {
  version: 35,
  name: 'hook-deliveries',
  sql: `
ALTER TABLE trigger_fires ADD COLUMN session_id TEXT;

CREATE TABLE hook_deliveries (
  id          TEXT PRIMARY KEY,
  hook_id     TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  status      TEXT NOT NULL,
  reason      TEXT,
  event       TEXT,
  fire_ids    TEXT NOT NULL,
  replays     INTEGER NOT NULL,
  handled_at  INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  headers     TEXT NOT NULL,
  body        TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX hook_deliveries_once  ON hook_deliveries (hook_id, delivery_id);
CREATE INDEX hook_deliveries_by_hook      ON hook_deliveries (hook_id, created_at, id);
CREATE INDEX hook_deliveries_dead         ON hook_deliveries (hook_id, created_at, id) WHERE status = 'dead';
CREATE INDEX hook_deliveries_by_creation  ON hook_deliveries (created_at);
`,
}
