import type { Migration } from './migration.ts'

/**
 * An index on the runs of a session that no run has started, because such a run can start any number of runs. Building it
 * reads the whole table, which can take longer than the timeout of other migrations.
 */
export const rootRuns: Migration = {
  version: 11,
  name: 'root-runs',
  sql: `
SET LOCAL statement_timeout = 0;

CREATE INDEX runs_roots_by_session ON runs (session_id, created_at, id)
  WHERE session_id IS NOT NULL AND coalesce(parent_run_id, '') = '';
`,
}
