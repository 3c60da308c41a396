import type { Migration } from './migration.ts'

/** A decision counts only for what was asked: the waiting call stores its hash. */
export const askedHash: Migration = {
  version: 12,
  name: 'asked-hash',
  sql: `
ALTER TABLE steps ADD COLUMN asked_hash text COLLATE "C";
`,
}
