import type { Migration } from './migration.ts'

/** Facts about the user of a run and of a token, the tokens of a subject by an index, and its usage. */
export const subjects: Migration = {
  version: 34,
  name: 'subjects',
  sql: `
ALTER TABLE runs ADD COLUMN caller TEXT;
ALTER TABLE tokens ADD COLUMN caller TEXT;

CREATE INDEX tokens_by_subject ON tokens (subject, created_at);

CREATE INDEX runs_at_work_by_owner ON runs (owner)
  WHERE parent_run_id IS NULL AND (status = 'queued' OR status = 'running');

CREATE TABLE deleted_usage (
  subject  TEXT PRIMARY KEY,
  day      INTEGER NOT NULL,
  runs     INTEGER NOT NULL,
  cost_usd REAL NOT NULL
) STRICT, WITHOUT ROWID;
`,
}
