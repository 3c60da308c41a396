import type { Migration } from './migration.ts'

/** The assignee of an approval, the arguments that a decision may change, and the time of the reminder. */
export const assignedApprovals: Migration = {
  version: 36,
  name: 'assigned-approvals',
  sql: `
ALTER TABLE approvals ADD COLUMN assignee TEXT;
ALTER TABLE approvals ADD COLUMN args_schema TEXT;
ALTER TABLE approvals ADD COLUMN args TEXT;
ALTER TABLE approvals ADD COLUMN edited_args TEXT;
ALTER TABLE approvals ADD COLUMN remind_at INTEGER;
ALTER TABLE approvals ADD COLUMN escalate_to TEXT;

CREATE INDEX approvals_to_remind ON approvals (remind_at)
  WHERE status = 'pending' AND remind_at IS NOT NULL;
`,
}
