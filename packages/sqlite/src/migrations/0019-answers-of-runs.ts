import type { Migration } from './migration.ts'

/** The response that a run will provide is found by `content_of`, so that no second index has to cover it. */
export const answersOfRuns: Migration = {
  version: 19,
  name: 'answers-of-runs',
  sql: `
DROP INDEX idempotency_executing;
CREATE INDEX idempotency_executing ON idempotency (run_id) WHERE status IS NULL AND coalesce(run_id, '') IS NOT content_of;
`,
}
