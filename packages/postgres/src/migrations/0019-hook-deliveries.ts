import type { Migration } from './migration.ts'

/** Deliveries that hooks have received, and the session that a fire gives its run. */
export const hookDeliveries: Migration = {
  version: 19,
  name: 'hook-deliveries',
  sql: `
ALTER TABLE trigger_fires ADD COLUMN session_id text COLLATE "C";

CREATE TABLE hook_deliveries (
  id          text COLLATE "C" PRIMARY KEY,
  hook_id     text COLLATE "C" NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  reason      text COLLATE "C",
  event       text COLLATE "C",
  fire_ids    text COLLATE "C" NOT NULL,
  replays     integer NOT NULL,
  handled_at  bigint NOT NULL,
  created_at  bigint NOT NULL,
  headers     text COLLATE "C" NOT NULL,
  body        text COLLATE "C" NOT NULL
);

CREATE UNIQUE INDEX hook_deliveries_once  ON hook_deliveries (hook_id, delivery_id);
CREATE INDEX hook_deliveries_by_hook      ON hook_deliveries (hook_id, created_at, id);
CREATE INDEX hook_deliveries_dead         ON hook_deliveries (hook_id, created_at, id) WHERE status = 'dead';
CREATE INDEX hook_deliveries_by_creation  ON hook_deliveries (created_at);
`,
}
