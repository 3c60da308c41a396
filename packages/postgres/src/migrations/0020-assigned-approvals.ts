import type { Migration } from './migration.ts'

/** The assignee of an approval, the arguments that a decision may change, and the time of the reminder. */
export const assignedApprovals: Migration = {
  version: 20,
  name: 'assigned-approvals',
  sql: `
ALTER TABLE approvals ADD COLUMN assignee text COLLATE "C";
ALTER TABLE approvals ADD COLUMN args_schema text COLLATE "C";
ALTER TABLE approvals ADD COLUMN args text COLLATE "C";
ALTER TABLE approvals ADD COLUMN edited_args text COLLATE "C";
ALTER TABLE approvals ADD COLUMN remind_at bigint;
ALTER TABLE approvals ADD COLUMN escalate_to text COLLATE "C";

CREATE INDEX approvals_to_remind ON approvals (remind_at, key)
  WHERE status = 'pending' AND remind_at IS NOT NULL;
`,
}
