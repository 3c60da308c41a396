import type { Migration } from './migration.ts'

/** The usage of deleted runs for each day, so that a run of another day does not replace it; and an index to prune it. */
export const usagePerDay: Migration = {
  version: 21,
  name: 'usage-per-day',
  sql: `
ALTER TABLE deleted_usage DROP CONSTRAINT deleted_usage_pkey;
ALTER TABLE deleted_usage ADD PRIMARY KEY (subject, day);

CREATE INDEX deleted_usage_by_day ON deleted_usage (day);
`,
}
