import type { Migration } from './migration.ts'

/**
 * Columns for the priority of a run and for the values by which flow control groups it. They are behind the large
 * columns, because any other position would need a copy of the whole table. Only for a run that has such a value does
 * SQLite walk the pages of its long texts.
 *
 * `lanes` has a row for each taken slot. A slot with `free_at` outlives its run, so a row names the run by its id.
 */
export const flowControl: Migration = {
  version: 23,
  name: 'flow-control',
  sql: `
ALTER TABLE runs ADD COLUMN priority INTEGER;
ALTER TABLE runs ADD COLUMN flow TEXT;

CREATE TABLE lanes (
  lane    TEXT NOT NULL,
  slot    INTEGER NOT NULL,
  run_id  TEXT NOT NULL,
  free_at INTEGER,
  PRIMARY KEY (lane, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX lanes_held ON lanes (run_id) WHERE free_at IS NULL;
CREATE INDEX lanes_free ON lanes (free_at) WHERE free_at IS NOT NULL;
`,
}
