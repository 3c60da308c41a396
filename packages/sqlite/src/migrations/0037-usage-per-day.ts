import type { Migration } from './migration.ts'

/** The usage of deleted runs for each day, so that a run of another day does not replace it; and an index to prune it. */
export const usagePerDay: Migration = {
  version: 37,
  name: 'usage-per-day',
  sql: `
CREATE TABLE deleted_usage_per_day (
  subject  TEXT NOT NULL,
  day      INTEGER NOT NULL,
  runs     INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  PRIMARY KEY (subject, day)
) STRICT, WITHOUT ROWID;

INSERT INTO deleted_usage_per_day SELECT subject, day, runs, cost_usd FROM deleted_usage;
DROP TABLE deleted_usage;
ALTER TABLE deleted_usage_per_day RENAME TO deleted_usage;

CREATE INDEX deleted_usage_by_day ON deleted_usage (day);
`,
}
