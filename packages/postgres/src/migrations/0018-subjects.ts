import type { Migration } from './migration.ts'

/** Facts about the user of a run and of a token, the tokens of a subject by an index, and its usage. */
export const subjects: Migration = {
  version: 18,
  name: 'subjects',
  sql: `
ALTER TABLE runs ADD COLUMN caller text COLLATE "C";
ALTER TABLE tokens ADD COLUMN caller text COLLATE "C";

CREATE INDEX tokens_by_subject ON tokens (subject, created_at);

CREATE INDEX runs_at_work_by_owner ON runs (owner)
  WHERE parent_run_id IS NULL AND (status = 'queued' OR status = 'running');

CREATE TABLE deleted_usage (
  subject  text COLLATE "C" PRIMARY KEY,
  day      integer NOT NULL,
  runs     integer NOT NULL,
  cost_usd double precision NOT NULL
);
`,
}
