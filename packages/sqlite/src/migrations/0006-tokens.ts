import type { Migration } from './migration.ts'

export const tokens: Migration = {
  version: 6,
  name: 'tokens',
  sql: `
CREATE TABLE tokens (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  digest       TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  subject      TEXT NOT NULL,
  env          TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  created_by   TEXT NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER,
  revoked_at   INTEGER,
  last4        TEXT NOT NULL
) STRICT;

CREATE INDEX tokens_by_creation ON tokens (created_at, id);
`,
}
