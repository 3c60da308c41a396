import type { Migration } from './migration.ts'

export const emissionsAndExpiry: Migration = {
  version: 12,
  name: 'emissions-and-expiry',
  sql: `
CREATE TABLE emissions (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  event_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  waits      TEXT NOT NULL,
  payload    TEXT NOT NULL
) STRICT;

ALTER TABLE steps ADD COLUMN usage TEXT;

CREATE INDEX approvals_due ON approvals (expires_at)
  WHERE status = 'pending' AND seq IS NULL AND expires_at IS NOT NULL;
`,
}
