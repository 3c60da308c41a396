import type { Migration } from './migration.ts'

export const durableRuns: Migration = {
  version: 9,
  name: 'durable-runs',
  sql: `
ALTER TABLE runs ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN parent_seq INTEGER;
ALTER TABLE runs ADD COLUMN deadline_at INTEGER;
ALTER TABLE runs ADD COLUMN budget TEXT;
ALTER TABLE runs ADD COLUMN suspension TEXT;
ALTER TABLE runs ADD COLUMN resumption TEXT;

CREATE INDEX runs_by_thread ON runs (thread_id, created_at, id) WHERE thread_id IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (parent_run_id, created_at, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_by_deadline ON runs (deadline_at)
  WHERE deadline_at IS NOT NULL AND status NOT IN ('completed', 'failed', 'aborted');
`,
}
