import type { Migration } from './migration.ts'

const briefOf = (message: string, length: number): string => `coalesce(CASE
      WHEN NOT json_valid(${message}.content) THEN NULL
      WHEN json_type(${message}.content) = 'text' THEN substr(json_extract(${message}.content, '$'), 1, ${length})
      WHEN json_type(${message}.content) = 'object' AND json_type(${message}.content, '$.text') = 'text'
        THEN substr(json_extract(${message}.content, '$.text'), 1, ${length})
    END, '')`

export const FROM_0024: readonly Migration[] = [
  /**
   * Columns for what a process can no longer keep in memory alone when other processes may write to the storage. All
   * columns of `runs` that are not large are again before the large ones, because SQLite walks all pages of a long text to
   * reach a column behind it. This needs a copy of the table, and of `run_fields`, which refers to it.
   *
   * `runs_active_thread` cannot find two active runs in a thread: one process owned the file and locked threads in memory.
   * `run_follow_ups` names the ended runs with follow-ups that are not done; at first, those that a crash has cut off. It is
   * a table, because to clear a column of a run SQLite would write all long texts of the run again.
   */
  {
    version: 24,
    name: 'shared-storage',
    sql: `
CREATE TABLE rebuilt_runs (
  key           INTEGER PRIMARY KEY REFERENCES run_keys (key),
  id            TEXT NOT NULL,
  kind          TEXT NOT NULL,
  target_id     TEXT NOT NULL,
  version       TEXT,
  thread_id     TEXT,
  session_id    TEXT,
  owner         TEXT NOT NULL,
  user_id       TEXT,
  status        TEXT NOT NULL,
  finish_reason TEXT,
  attempt       INTEGER NOT NULL,
  execution     INTEGER NOT NULL DEFAULT 0,
  executor      TEXT,
  retries       INTEGER,
  timeout_ms    INTEGER,
  depth         INTEGER NOT NULL DEFAULT 0,
  parent_run_id TEXT,
  parent_seq    INTEGER,
  fork_run_id   TEXT,
  fork_seq      INTEGER,
  trigger_id    TEXT,
  traceparent   TEXT,
  priority      INTEGER,
  flow          TEXT,
  created_at    INTEGER NOT NULL,
  start_at      INTEGER,
  started_at    INTEGER,
  suspended_at  INTEGER,
  completed_at  INTEGER,
  deadline_at   INTEGER,
  usage         TEXT NOT NULL,
  budget        TEXT,
  abort_reason  TEXT,
  metadata      TEXT NOT NULL,
  parked        TEXT,
  error         TEXT,
  input         TEXT NOT NULL,
  result        TEXT,
  suspension    TEXT,
  resumption    TEXT
) STRICT;

INSERT INTO rebuilt_runs (key, id, kind, target_id, version, thread_id, session_id, owner, user_id, status,
    finish_reason, attempt, retries, timeout_ms, depth, parent_run_id, parent_seq, fork_run_id, fork_seq,
    trigger_id, traceparent, priority, flow, created_at, start_at, started_at, suspended_at, completed_at, deadline_at,
    usage, budget, abort_reason, metadata, parked, error, input, result, suspension, resumption)
  SELECT key, id, kind, target_id, version, thread_id, session_id, owner, user_id, status,
    finish_reason, attempt, retries, timeout_ms, depth, parent_run_id, parent_seq, fork_run_id, fork_seq,
    trigger_id, traceparent, priority, flow, created_at, start_at, started_at, suspended_at, completed_at, deadline_at,
    usage, budget, abort_reason, metadata, parked, error, input, result, suspension, resumption FROM runs;

CREATE TABLE rebuilt_run_fields (
  field   TEXT NOT NULL,
  value   TEXT NOT NULL,
  run_at  INTEGER NOT NULL, -- when the run was created
  run_key INTEGER NOT NULL REFERENCES rebuilt_runs (key) ON DELETE CASCADE,
  PRIMARY KEY (field, value, run_at, run_key)
) STRICT, WITHOUT ROWID;

INSERT INTO rebuilt_run_fields SELECT field, value, run_at, run_key FROM run_fields;

DROP TABLE run_fields;
DROP TABLE runs;
ALTER TABLE rebuilt_runs RENAME TO runs;
ALTER TABLE rebuilt_run_fields RENAME TO run_fields;

CREATE INDEX run_fields_by_run ON run_fields (run_key);
CREATE INDEX runs_by_creation ON runs (created_at, id);
CREATE INDEX runs_by_owner    ON runs (owner, created_at, id);
CREATE INDEX runs_by_target   ON runs (target_id, created_at, id);
CREATE INDEX runs_by_session  ON runs (session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX runs_active      ON runs (status, created_at, id)
  WHERE status = 'queued' OR status = 'running' OR status = 'suspended';
CREATE INDEX runs_unsuccessful ON runs (status, created_at, id)
  WHERE status = 'failed' OR status = 'aborted';
CREATE INDEX runs_by_thread   ON runs (thread_id, created_at, id) WHERE thread_id IS NOT NULL;
CREATE INDEX runs_by_parent   ON runs (parent_run_id, created_at, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_by_deadline ON runs (deadline_at)
  WHERE deadline_at IS NOT NULL AND status NOT IN ('completed', 'failed', 'aborted');
CREATE INDEX runs_asked_for   ON runs (completed_at)
  WHERE trigger_id IS NULL AND parent_run_id IS NULL AND completed_at IS NOT NULL;
CREATE INDEX runs_busy_by_session ON runs (session_id)
  WHERE session_id IS NOT NULL AND (status = 'queued' OR status = 'running' OR status = 'suspended');
CREATE INDEX runs_by_start    ON runs (start_at) WHERE start_at IS NOT NULL AND +status = 'queued';
CREATE INDEX runs_parked      ON runs (created_at, id)
  WHERE parked IS NOT NULL AND parked <> 'null' AND +status = 'suspended';
CREATE UNIQUE INDEX runs_active_thread ON runs (thread_id, target_id)
  WHERE thread_id IS NOT NULL AND kind = 'workflow' AND status NOT IN ('completed', 'failed', 'aborted');

ALTER TABLE idempotency ADD COLUMN executor TEXT;
ALTER TABLE idempotency ADD COLUMN patient_until INTEGER;

CREATE TABLE run_follow_ups (
  run_key INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE
) STRICT;

INSERT INTO run_follow_ups SELECT key FROM runs
  WHERE status IN ('completed', 'failed', 'aborted') AND (
    id IN (SELECT child_run_id FROM steps WHERE status = 'waiting' AND child_run_id IS NOT NULL)
    OR id IN (SELECT parent_run_id FROM runs WHERE status NOT IN ('completed', 'failed', 'aborted'))
    OR id IN (SELECT run_id FROM approvals WHERE status = 'pending'));
`,
  },
  {
    version: 25,
    name: 'webhooks',
    sql: `
CREATE TABLE webhooks (
  id         TEXT PRIMARY KEY,
  version    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_deliveries (
  id               TEXT PRIMARY KEY,
  webhook_id       TEXT NOT NULL,
  type             TEXT NOT NULL,
  position         INTEGER NOT NULL,
  status           TEXT NOT NULL,
  attempts         INTEGER NOT NULL,
  earlier_attempts INTEGER NOT NULL,
  due_at           INTEGER NOT NULL,
  lease            TEXT,
  response_status  INTEGER,
  error            TEXT,
  ended_at         INTEGER,
  created_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX webhook_deliveries_once  ON webhook_deliveries (webhook_id, position) WHERE position > 0;
CREATE INDEX webhook_deliveries_by_webhook   ON webhook_deliveries (webhook_id, created_at, id);
CREATE INDEX webhook_deliveries_unattempted  ON webhook_deliveries (webhook_id, position, id)
  WHERE status = 'pending' AND attempts = 0;
CREATE INDEX webhook_deliveries_due          ON webhook_deliveries (webhook_id, due_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_pending      ON webhook_deliveries (webhook_id, created_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_dead         ON webhook_deliveries (webhook_id, created_at, id) WHERE status = 'dead';
CREATE INDEX webhook_deliveries_claimed      ON webhook_deliveries (lease) WHERE lease IS NOT NULL;
CREATE INDEX webhook_deliveries_over         ON webhook_deliveries (created_at) WHERE status <> 'pending';
`,
  },
  /**
   * Approvals are `approved`, no longer `granted`, and a budget limits `maxDuration`, no longer `wallClockMs`. The server
   * alone writes decisions and budgets: a decision begins with its verdict, and a budget has only numbers. Events are
   * translated when they are read (`toEventPayload`); audit entries and what clients and agents have written stay as they are.
   * Steps count their recoveries.
   */
  {
    version: 26,
    name: 'approved',
    sql: `
UPDATE approvals SET status = 'approved' WHERE status = 'granted';

UPDATE steps SET result = '{"approved":' || substr(result, length('{"granted":') + 1)
  WHERE kind = 'approval' AND substr(result, 1, length('{"granted":')) = '{"granted":';

UPDATE runs SET budget = replace(budget, '"wallClockMs":', '"maxDuration":')
  WHERE budget IS NOT NULL AND instr(budget, '"wallClockMs":') > 0;

ALTER TABLE steps ADD COLUMN recoveries integer;
`,
  },
  /** An index on the runs of a session that no run has started, because such a run can start any number of runs. */
  {
    version: 27,
    name: 'root-runs',
    sql: `
CREATE INDEX runs_roots_by_session ON runs (session_id, created_at, id)
  WHERE session_id IS NOT NULL AND coalesce(parent_run_id, '') = '';
`,
  },
  /** A decision counts only for what was asked: the waiting call stores its hash. */
  {
    version: 28,
    name: 'asked-hash',
    sql: `
ALTER TABLE steps ADD COLUMN asked_hash TEXT;
`,
  },
  /** A run that replaces turns of its session withdraws them. The index has the turns that are left. */
  {
    version: 29,
    name: 'turns',
    sql: `
ALTER TABLE runs ADD COLUMN withdrawn_by TEXT;

CREATE INDEX runs_turns_by_session ON runs (session_id, created_at, id)
  WHERE session_id IS NOT NULL AND coalesce(parent_run_id, '') = '' AND withdrawn_by IS NULL;
`,
  },
  /** Attachments. The content of a large file is a blob beside the database, under its hash. */
  {
    version: 30,
    name: 'files',
    sql: `
CREATE TABLE files (
  id         TEXT PRIMARY KEY,
  owner      TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  size       INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  name       TEXT,
  created_at INTEGER NOT NULL,
  is_held    INTEGER NOT NULL,
  content    BLOB
) STRICT;

CREATE TABLE file_holders (
  file_id    TEXT NOT NULL,
  session_id TEXT NOT NULL,
  PRIMARY KEY (file_id, session_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX files_by_creation       ON files (created_at, id);
CREATE INDEX files_by_owner          ON files (owner, created_at, id);
CREATE INDEX files_usage             ON files (owner, size);
CREATE INDEX files_unheld            ON files (created_at, id) WHERE is_held = 0;
CREATE INDEX files_of_blob           ON files (sha256) WHERE content IS NULL;
CREATE INDEX file_holders_by_session ON file_holders (session_id, file_id);
`,
  },
  /** What a list of chats shows of a session. The messages of chats that exist already count as read. */
  {
    version: 31,
    name: 'chats',
    sql: `
CREATE TABLE chats (
  session_id TEXT PRIMARY KEY,
  chat_id    TEXT NOT NULL,
  agent_id   TEXT NOT NULL,
  owner      TEXT NOT NULL,
  first_text TEXT NOT NULL,
  title      TEXT,
  last_role  TEXT,
  last_text  TEXT,
  last_at    INTEGER,
  last_seq   INTEGER NOT NULL,
  answer_seq INTEGER NOT NULL,
  read_seq   INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

INSERT INTO chats (session_id, chat_id, agent_id, owner, first_text, last_role, last_text, last_at, last_seq, answer_seq,
    read_seq, created_at, updated_at)
  SELECT sessions.id, json_extract(metadata, '$."interop.id"'), agent_id, owner, ${briefOf('first', 80)}, last.role,
    CASE WHEN last.role IS NOT NULL THEN ${briefOf('last', 200)} END, last.created_at, last_seq,
    coalesce((SELECT seq FROM messages WHERE session_key = sessions.key AND role = 'assistant' ORDER BY seq DESC LIMIT 1), 0),
    last_seq, sessions.created_at, updated_at
  FROM sessions
    LEFT JOIN messages AS first ON first.session_key = sessions.key AND first.seq = 1
    LEFT JOIN messages AS last ON last.session_key = sessions.key AND last.seq = sessions.last_seq
  WHERE agent_id IS NOT NULL AND json_extract(metadata, '$."interop.id"') IS NOT NULL;

CREATE INDEX chats_by_owner ON chats (owner, agent_id, updated_at, session_id);
CREATE INDEX chats_by_agent ON chats (coalesce(agent_id, ''), updated_at, session_id);
`,
  },
]
