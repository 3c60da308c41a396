import type { Migration } from './migration.ts'

export const meta: Migration = {
  version: 1,
  name: 'meta',
  sql: `
CREATE TABLE meta (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES
  ('epoch', lower(hex(randomblob(8)))),
  ('trimmed_through', '0'),
  ('clean_shutdown', '1');
`,
}
