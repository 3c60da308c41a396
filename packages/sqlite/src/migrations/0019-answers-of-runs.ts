import type { Migration } from './migration.ts'

/** A response that a run will provide is found through `content_of`, so the index of executing requests omits it. */
export const answersOfRuns: Migration = {
  version: 19,
  name: 'answers-of-runs',
  sql: `
DROP INDEX idempotency_executing;
CREATE INDEX idempotency_executing ON idempotency (run_id) WHERE status IS NULL AND coalesce(run_id, '') IS NOT content_of;
`,
}
