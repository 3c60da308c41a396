import type { Migration } from './migration.ts'

/** A run that replaces turns of its session withdraws them. The index has the turns that are left. */
export const turns: Migration = {
  version: 13,
  name: 'turns',
  sql: `
SET LOCAL statement_timeout = 0;

ALTER TABLE runs ADD COLUMN withdrawn_by text COLLATE "C";

CREATE INDEX runs_turns_by_session ON runs (session_id, created_at, id)
  WHERE session_id IS NOT NULL AND coalesce(parent_run_id, '') = '' AND withdrawn_by IS NULL;
`,
}
