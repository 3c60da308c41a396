import type { Migration } from './migration.ts'

export const tokenFamilies: Migration = {
  version: 11,
  name: 'token-families',
  sql: `
ALTER TABLE tokens ADD COLUMN parent_id TEXT;
ALTER TABLE tokens ADD COLUMN replaced_by TEXT;
ALTER TABLE idempotency ADD COLUMN sealed INTEGER;

CREATE INDEX tokens_by_parent ON tokens (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tokens_by_successor ON tokens (replaced_by) WHERE replaced_by IS NOT NULL;
`,
}
