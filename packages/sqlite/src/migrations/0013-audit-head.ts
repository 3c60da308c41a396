import type { Migration } from './migration.ts'

export const auditHead: Migration = {
  version: 13,
  name: 'audit-head',
  sql: `
CREATE TABLE audit_heads (
  name TEXT PRIMARY KEY CHECK (name IN ('head', 'base')),
  seq  INTEGER NOT NULL,
  hash TEXT NOT NULL,
  mac  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_outbox (
  position INTEGER PRIMARY KEY,
  key      TEXT NOT NULL UNIQUE,
  entry    TEXT NOT NULL
) STRICT;

CREATE TABLE audit_sources (
  key TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
`,
}
