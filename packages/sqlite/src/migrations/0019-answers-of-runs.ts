import type { Migration } from './migration.ts'

/** The answer that a run will give is found by the run whose content it is, so that no second index has to know of it. */
export const answersOfRuns: Migration = {
  version: 19,
  name: 'answers-of-runs',
  sql: `
DROP INDEX idempotency_executing;
CREATE INDEX idempotency_executing ON idempotency (run_id) WHERE status IS NULL AND coalesce(run_id, '') IS NOT content_of;
`,
}
