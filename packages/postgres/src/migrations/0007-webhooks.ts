import type { Migration } from './migration.ts'

export const webhooks: Migration = {
  version: 7,
  name: 'webhooks',
  sql: `
CREATE TABLE webhooks (
  id         text COLLATE "C" PRIMARY KEY,
  version    integer NOT NULL,
  created_at bigint NOT NULL,
  definition text COLLATE "C" NOT NULL
);

CREATE TABLE webhook_deliveries (
  id               text COLLATE "C" PRIMARY KEY,
  webhook_id       text COLLATE "C" NOT NULL,
  type             text COLLATE "C" NOT NULL,
  position         bigint NOT NULL,
  status           text COLLATE "C" NOT NULL,
  attempts         integer NOT NULL,
  earlier_attempts integer NOT NULL,
  due_at           bigint NOT NULL,
  lease            text COLLATE "C",
  response_status  integer,
  error            text COLLATE "C",
  ended_at         bigint,
  created_at       bigint NOT NULL
);

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
