import type { Migration } from './migration.ts'

/** A run that replaces turns of its session withdraws them. The index has the turns that are left. */
export const turns: Migration = {
  version: 29,
  name: 'turns',
  sql: `
ALTER TABLE runs ADD COLUMN withdrawn_by TEXT;

CREATE INDEX runs_turns_by_session ON runs (session_id, created_at, id)
  WHERE session_id IS NOT NULL AND coalesce(parent_run_id, '') = '' AND withdrawn_by IS NULL;
`,
}
