import type { Migration } from './migration.ts'

export const webhooks: Migration = {
  version: 25,
  name: 'webhooks',
  sql: `
CREATE TABLE webhooks (
  id         TEXT PRIMARY KEY,
  version    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_deliveries (
  id               TEXT PRIMARY KEY,
  webhook_id       TEXT NOT NULL,
  type             TEXT NOT NULL,
  position         INTEGER NOT NULL,
  status           TEXT NOT NULL,
  attempts         INTEGER NOT NULL,
  earlier_attempts INTEGER NOT NULL,
  due_at           INTEGER NOT NULL,
  lease            TEXT,
  response_status  INTEGER,
  error            TEXT,
  ended_at         INTEGER,
  created_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX webhook_deliveries_once  ON webhook_deliveries (webhook_id, position) WHERE position > 0;
CREATE INDEX webhook_deliveries_by_webhook   ON webhook_deliveries (webhook_id, created_at, id);
CREATE INDEX webhook_deliveries_unattempted  ON webhook_deliveries (webhook_id, position, id)
  WHERE status = 'pending' AND attempts = 0;
CREATE INDEX webhook_deliveries_due          ON webhook_deliveries (webhook_id, due_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_pending      ON webhook_deliveries (webhook_id, created_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_dead         ON webhook_deliveries (webhook_id, created_at, id) WHERE status = 'dead';
CREATE INDEX webhook_deliveries_claimed      ON webhook_deliveries (lease) WHERE lease IS NOT NULL;
CREATE INDEX webhook_deliveries_over         ON webhook_deliveries (created_at) WHERE status <> 'pending';
`,
}
