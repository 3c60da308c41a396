import type { Migration } from './migration.ts'

export const audit: Migration = {
  version: 10,
  name: 'audit',
  sql: `
CREATE TABLE audit_entries (
  seq       INTEGER PRIMARY KEY,
  hash      TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  entry     TEXT NOT NULL
) STRICT;
`,
}
