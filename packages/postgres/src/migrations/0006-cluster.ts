import type { Migration } from './migration.ts'

/**
 * A node without a lease has the schema for itself, or is a command beside a server. `departed_nodes` names the nodes that
 * have left, until everything that they left behind is recovered.
 */
export const cluster: Migration = {
  version: 6,
  name: 'cluster',
  sql: `
ALTER TABLE nodes
  ADD COLUMN role text COLLATE "C" NOT NULL DEFAULT 'sole',
  ADD COLUMN lease_until timestamptz;

CREATE TABLE departed_nodes (
  id          text COLLATE "C" PRIMARY KEY,
  departed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE duties (
  name text COLLATE "C" PRIMARY KEY,
  node text COLLATE "C" NOT NULL
);

CREATE INDEX runs_queued ON runs (target_id, owner, created_at, id) WHERE status = 'queued';
`,
}
