import type { Migration } from './migration.ts'

/** What the configuration of a server declares. Missing for servers of earlier releases, which ignore the column. */
export const declarations: Migration = {
  version: 10,
  name: 'declarations',
  readableFrom: 9,
  sql: `
ALTER TABLE nodes ADD COLUMN declares text[];
`,
}
