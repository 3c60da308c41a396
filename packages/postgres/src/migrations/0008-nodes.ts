import type { Migration } from './migration.ts'

/**
 * What a server tells the others of its cluster: its release, the newest schema that it can read, fingerprints of its token peppers
 * and of its configuration, and its code. Servers of earlier releases ignore the columns.
 */
export const nodes: Migration = {
  version: 8,
  name: 'nodes',
  readableFrom: 7,
  sql: `
ALTER TABLE nodes
  ADD COLUMN version         text COLLATE "C",
  ADD COLUMN schema_version  integer,
  ADD COLUMN peppers         text[] NOT NULL DEFAULT '{}',
  ADD COLUMN settings        text COLLATE "C" NOT NULL DEFAULT '{}',
  ADD COLUMN targets         text[] NOT NULL DEFAULT '{}',
  ADD COLUMN drain_requested boolean NOT NULL DEFAULT false,
  ADD COLUMN is_draining     boolean NOT NULL DEFAULT false;
`,
}
