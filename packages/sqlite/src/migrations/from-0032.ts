import type { Migration } from './migration.ts'

export const FROM_0032: readonly Migration[] = [
  /** Subjects whose credentials were revoked, with the time up to which these were issued. */
  {
    version: 32,
    name: 'subject-revocations',
    sql: `
CREATE TABLE subject_revocations (
  subject      TEXT PRIMARY KEY,
  issued_until INTEGER NOT NULL,
  revoked_at   INTEGER NOT NULL,
  revoked_by   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
  /** Files with results of durable calls, and the runs that hold files. */
  {
    version: 33,
    name: 'result-files',
    sql: `
ALTER TABLE steps ADD COLUMN result_file TEXT;

CREATE TABLE run_files (
  run_id  TEXT NOT NULL,
  file_id TEXT NOT NULL,
  PRIMARY KEY (run_id, file_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_files_by_file ON run_files (file_id, run_id);
`,
  },
  /** Facts about the user of a run and of a token, the tokens of a subject by an index, and its usage. */
  {
    version: 34,
    name: 'subjects',
    sql: `
ALTER TABLE runs ADD COLUMN caller TEXT;
ALTER TABLE tokens ADD COLUMN caller TEXT;

CREATE INDEX tokens_by_subject ON tokens (subject, created_at);

CREATE INDEX runs_at_work_by_owner ON runs (owner)
  WHERE parent_run_id IS NULL AND (status = 'queued' OR status = 'running');

CREATE TABLE deleted_usage (
  subject  TEXT PRIMARY KEY,
  day      INTEGER NOT NULL,
  runs     INTEGER NOT NULL,
  cost_usd REAL NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
  /** Deliveries that hooks have received, and the session that a fire gives its run. */
  {
    version: 35,
    name: 'hook-deliveries',
    sql: `
ALTER TABLE trigger_fires ADD COLUMN session_id TEXT;

CREATE TABLE hook_deliveries (
  id          TEXT PRIMARY KEY,
  hook_id     TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  status      TEXT NOT NULL,
  reason      TEXT,
  event       TEXT,
  fire_ids    TEXT NOT NULL,
  replays     INTEGER NOT NULL,
  handled_at  INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  headers     TEXT NOT NULL,
  body        TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX hook_deliveries_once  ON hook_deliveries (hook_id, delivery_id);
CREATE INDEX hook_deliveries_by_hook      ON hook_deliveries (hook_id, created_at, id);
CREATE INDEX hook_deliveries_dead         ON hook_deliveries (hook_id, created_at, id) WHERE status = 'dead';
CREATE INDEX hook_deliveries_by_creation  ON hook_deliveries (created_at);
`,
  },
  /** The assignee of an approval, the arguments that a decision may change, and the time of the reminder. */
  {
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
  },
  /** The usage of deleted runs for each day, so that a run of another day does not replace it; and an index to prune it. */
  {
    version: 37,
    name: 'usage-per-day',
    sql: `
CREATE TABLE deleted_usage_per_day (
  subject  TEXT NOT NULL,
  day      INTEGER NOT NULL,
  runs     INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  PRIMARY KEY (subject, day)
) STRICT, WITHOUT ROWID;

INSERT INTO deleted_usage_per_day SELECT subject, day, runs, cost_usd FROM deleted_usage;
DROP TABLE deleted_usage;
ALTER TABLE deleted_usage_per_day RENAME TO deleted_usage;

CREATE INDEX deleted_usage_by_day ON deleted_usage (day);
`,
  },
]
