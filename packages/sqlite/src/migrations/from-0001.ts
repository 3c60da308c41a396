import type { Migration } from './migration.ts'

export const FROM_0001: readonly Migration[] = [
  {
    version: 1,
    name: 'meta',
    sql: `
CREATE TABLE meta (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES
  ('epoch', lower(hex(randomblob(8)))),
  ('trimmed_through', '0'),
  ('clean_shutdown', '1');
`,
  },
  {
    version: 2,
    name: 'runs',
    sql: `
CREATE TABLE run_keys (
  key    INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE runs (
  key           INTEGER PRIMARY KEY REFERENCES run_keys (key),
  id            TEXT NOT NULL,
  kind          TEXT NOT NULL,
  target_id     TEXT NOT NULL,
  thread_id     TEXT,
  session_id    TEXT,
  owner         TEXT NOT NULL,
  user_id       TEXT,
  status        TEXT NOT NULL,
  finish_reason TEXT,
  attempt       INTEGER NOT NULL,
  timeout_ms    INTEGER,
  parent_run_id TEXT,
  trigger_id    TEXT,
  traceparent   TEXT,
  created_at    INTEGER NOT NULL,
  started_at    INTEGER,
  suspended_at  INTEGER,
  completed_at  INTEGER,
  usage         TEXT NOT NULL,
  metadata      TEXT NOT NULL,
  error         TEXT,
  input         TEXT NOT NULL,
  result        TEXT
) STRICT;

CREATE INDEX runs_by_creation ON runs (created_at, id);
CREATE INDEX runs_by_owner    ON runs (owner, created_at, id);
CREATE INDEX runs_by_target   ON runs (target_id, created_at, id);
CREATE INDEX runs_by_session  ON runs (session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX runs_active      ON runs (status, created_at, id)
  WHERE status = 'queued' OR status = 'running' OR status = 'suspended';
CREATE INDEX runs_unsuccessful ON runs (status, created_at, id)
  WHERE status = 'failed' OR status = 'aborted';
`,
  },
  {
    version: 3,
    name: 'events',
    sql: `
CREATE TABLE events (
  position   INTEGER PRIMARY KEY AUTOINCREMENT,
  run_key    INTEGER REFERENCES run_keys (key),
  session_id TEXT,
  topic      TEXT,
  type       TEXT NOT NULL,
  phase      TEXT,
  at         INTEGER NOT NULL,
  payload    TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_run     ON events (run_key) WHERE run_key IS NOT NULL;
CREATE INDEX events_by_session ON events (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX events_by_topic   ON events (topic) WHERE topic IS NOT NULL;
`,
  },
  {
    version: 4,
    name: 'idempotency',
    sql: `
CREATE TABLE idempotency (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  fingerprint  TEXT NOT NULL,
  run_id       TEXT,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  status       INTEGER,
  location     TEXT,
  content_type TEXT,
  body         TEXT
) STRICT;

CREATE INDEX idempotency_executing ON idempotency (run_id) WHERE status IS NULL;
CREATE INDEX idempotency_answered  ON idempotency (expires_at) WHERE status IS NOT NULL;
`,
  },
  {
    version: 5,
    name: 'sessions',
    sql: `
CREATE TABLE sessions (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  owner      TEXT NOT NULL,
  title      TEXT,
  user_id    TEXT,
  agent_id   TEXT,
  last_seq   INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  metadata   TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_by_creation ON sessions (created_at, id);
CREATE INDEX sessions_by_owner    ON sessions (owner, created_at, id);

CREATE TABLE messages (
  key         INTEGER PRIMARY KEY,
  session_key INTEGER NOT NULL REFERENCES sessions (key),
  seq         INTEGER NOT NULL,
  id          TEXT NOT NULL,
  role        TEXT NOT NULL,
  run_id      TEXT,
  created_at  INTEGER NOT NULL,
  content     TEXT NOT NULL,
  UNIQUE (session_key, seq)
) STRICT;
`,
  },
  {
    version: 6,
    name: 'tokens',
    sql: `
CREATE TABLE tokens (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  digest       TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  subject      TEXT NOT NULL,
  env          TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  created_by   TEXT NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER,
  revoked_at   INTEGER,
  last4        TEXT NOT NULL
) STRICT;

CREATE INDEX tokens_by_creation ON tokens (created_at, id);
`,
  },
  {
    version: 7,
    name: 'steps',
    sql: `
CREATE TABLE steps (
  key          INTEGER PRIMARY KEY,
  run_key      INTEGER NOT NULL REFERENCES run_keys (key),
  seq          INTEGER NOT NULL,
  kind         TEXT NOT NULL,
  name         TEXT NOT NULL,
  status       TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  "order"      INTEGER,
  due_at       INTEGER,
  event_name   TEXT,
  approval_id  TEXT,
  child_run_id TEXT,
  started_at   INTEGER NOT NULL,
  settled_at   INTEGER,
  error        TEXT,
  result       TEXT,
  UNIQUE (run_key, seq)
) STRICT;

CREATE INDEX steps_settled ON steps (run_key, "order") WHERE "order" IS NOT NULL;
CREATE INDEX steps_due ON steps (due_at)
  WHERE status = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX steps_by_event ON steps (event_name, started_at)
  WHERE status = 'waiting' AND event_name IS NOT NULL;
CREATE INDEX steps_by_run_and_event ON steps (run_key, event_name, started_at)
  WHERE status = 'waiting' AND event_name IS NOT NULL;
CREATE INDEX steps_by_child ON steps (child_run_id)
  WHERE status = 'waiting' AND child_run_id IS NOT NULL;
`,
  },
  {
    version: 8,
    name: 'approvals',
    sql: `
CREATE TABLE approvals (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  run_id       TEXT NOT NULL,
  seq          INTEGER,
  kind         TEXT NOT NULL,
  target_id    TEXT NOT NULL,
  session_id   TEXT,
  owner        TEXT NOT NULL,
  name         TEXT NOT NULL,
  title        TEXT,
  tool_call_id TEXT,
  status       TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  resolved_at  INTEGER,
  "by"         TEXT,
  reason       TEXT,
  payload      TEXT,
  decision     TEXT
) STRICT;

CREATE INDEX approvals_by_creation ON approvals (created_at, id);
CREATE INDEX approvals_by_owner    ON approvals (owner, created_at, id);
CREATE INDEX approvals_by_run      ON approvals (run_id, created_at, id);
CREATE INDEX approvals_pending     ON approvals (created_at, id) WHERE status = 'pending';
CREATE INDEX approvals_pending_by_owner ON approvals (owner, created_at, id) WHERE status = 'pending';
`,
  },
  {
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
  },
  {
    version: 10,
    name: 'audit',
    sql: `
CREATE TABLE audit_entries (
  seq       INTEGER PRIMARY KEY,
  hash      TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  entry     TEXT NOT NULL
) STRICT;
`,
  },
  {
    version: 11,
    name: 'token-families',
    sql: `
ALTER TABLE tokens ADD COLUMN parent_id TEXT;
ALTER TABLE tokens ADD COLUMN replaced_by TEXT;
ALTER TABLE idempotency ADD COLUMN sealed INTEGER;

CREATE INDEX tokens_by_parent ON tokens (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tokens_by_successor ON tokens (replaced_by) WHERE replaced_by IS NOT NULL;
`,
  },
  {
    version: 12,
    name: 'emissions-and-expiry',
    sql: `
CREATE TABLE emissions (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  event_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  waits      TEXT NOT NULL,
  payload    TEXT NOT NULL
) STRICT;

ALTER TABLE steps ADD COLUMN usage TEXT;

CREATE INDEX approvals_due ON approvals (expires_at)
  WHERE status = 'pending' AND seq IS NULL AND expires_at IS NOT NULL;
`,
  },
]
