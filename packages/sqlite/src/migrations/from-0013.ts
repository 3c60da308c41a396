import type { Migration } from './migration.ts'

export const FROM_0013: readonly Migration[] = [
  {
    version: 13,
    name: 'audit-head',
    sql: `
CREATE TABLE audit_heads (
  name TEXT PRIMARY KEY CHECK (name IN ('head', 'base')),
  seq  INTEGER NOT NULL,
  hash TEXT NOT NULL,
  mac  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_outbox (
  position INTEGER PRIMARY KEY,
  key      TEXT NOT NULL UNIQUE,
  entry    TEXT NOT NULL
) STRICT;

CREATE TABLE audit_sources (
  key TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
`,
  },
  {
    version: 14,
    name: 'triggers',
    sql: `
CREATE TABLE triggers (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  kind         TEXT NOT NULL,
  event        TEXT,
  is_active    INTEGER NOT NULL,
  due_at       INTEGER,
  last_fire_id TEXT,
  last_status  TEXT,
  version      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  definition   TEXT NOT NULL
) STRICT;

CREATE INDEX triggers_by_creation ON triggers (created_at, id);
CREATE INDEX triggers_due         ON triggers (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX triggers_by_event    ON triggers (event, id) WHERE event IS NOT NULL;

CREATE TABLE trigger_fires (
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  trigger_id   TEXT NOT NULL REFERENCES triggers (id),
  scheduled_at INTEGER NOT NULL,
  cause        TEXT NOT NULL,
  status       TEXT NOT NULL,
  input        TEXT,
  fired_at     INTEGER,
  run_id       TEXT,
  reason       TEXT,
  created_at   INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX trigger_fires_once   ON trigger_fires (trigger_id, scheduled_at) WHERE cause = 'schedule';
CREATE INDEX trigger_fires_by_trigger    ON trigger_fires (trigger_id, created_at, id);
CREATE INDEX trigger_fires_pending       ON trigger_fires (trigger_id, id) WHERE status = 'pending';
CREATE INDEX trigger_fires_started       ON trigger_fires (trigger_id, created_at, id) WHERE status = 'started';
CREATE INDEX trigger_fires_over          ON trigger_fires (created_at)
  WHERE status <> 'pending' AND status <> 'started';

CREATE INDEX trigger_fires_by_run        ON trigger_fires (run_id) WHERE run_id IS NOT NULL;

CREATE INDEX runs_asked_for ON runs (completed_at)
  WHERE trigger_id IS NULL AND parent_run_id IS NULL AND completed_at IS NOT NULL;
`,
  },
  {
    version: 15,
    name: 'session-life',
    sql: `
CREATE INDEX sessions_by_activity ON sessions (updated_at, id);
CREATE INDEX runs_busy_by_session ON runs (session_id)
  WHERE session_id IS NOT NULL AND (status = 'queued' OR status = 'running' OR status = 'suspended');

ALTER TABLE idempotency ADD COLUMN content_of TEXT;
UPDATE idempotency SET content_of = run_id;
CREATE INDEX idempotency_by_content ON idempotency (content_of) WHERE content_of IS NOT NULL;

CREATE TABLE mcp_servers (
  key         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  url         TEXT NOT NULL,
  headers_ref TEXT,
  created_at  INTEGER NOT NULL,
  created_by  TEXT NOT NULL
) STRICT;
`,
  },
  /**
   * `fact_words` holds the words that the domain extracts from a text, joined by spaces; the tokenizer only splits at
   * spaces.
   */
  {
    version: 16,
    name: 'memory',
    sql: `
CREATE TABLE facts (
  key               INTEGER PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE,
  namespace         TEXT NOT NULL,
  owner             TEXT NOT NULL,
  importance        REAL NOT NULL,
  weighed_at        INTEGER NOT NULL,
  fingerprint       TEXT NOT NULL,
  source_run_id     TEXT,
  source_session_id TEXT,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  expires_at        INTEGER,
  revision          INTEGER NOT NULL,
  embedded_by       TEXT,
  tags              TEXT NOT NULL,
  metadata          TEXT NOT NULL,
  text              TEXT NOT NULL
) STRICT;

CREATE INDEX facts_by_creation    ON facts (created_at, id);
CREATE INDEX facts_by_owner       ON facts (owner, created_at, id);
CREATE INDEX facts_by_namespace   ON facts (namespace, created_at, id);
CREATE INDEX facts_by_fingerprint ON facts (owner, namespace, fingerprint, expires_at);
CREATE INDEX facts_by_weight      ON facts (weighed_at, id) WHERE importance > 0;
CREATE INDEX facts_owner_weight   ON facts (owner, weighed_at, id) WHERE importance > 0;
CREATE INDEX facts_by_expiry      ON facts (expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX facts_unembedded     ON facts (created_at, id) WHERE embedded_by IS NULL;
CREATE INDEX facts_by_run         ON facts (source_run_id) WHERE source_run_id IS NOT NULL;
CREATE INDEX facts_by_session     ON facts (source_session_id, created_at, id) WHERE source_session_id IS NOT NULL;

CREATE VIRTUAL TABLE fact_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');

CREATE TABLE fact_vectors (
  fact_key INTEGER PRIMARY KEY REFERENCES facts (key) ON DELETE CASCADE,
  vector   BLOB NOT NULL
) STRICT;

CREATE TABLE blocks (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  owner      TEXT NOT NULL,
  namespace  TEXT NOT NULL,
  label      TEXT NOT NULL,
  "limit"    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  value      TEXT NOT NULL,
  UNIQUE (owner, namespace, label)
) STRICT;

CREATE INDEX blocks_by_creation  ON blocks (created_at, id);
CREATE INDEX blocks_by_owner     ON blocks (owner, created_at, id);
CREATE INDEX blocks_by_namespace ON blocks (namespace, created_at, id);

CREATE TABLE memory_conflicts (
  key            INTEGER PRIMARY KEY,
  id             TEXT NOT NULL UNIQUE,
  namespace      TEXT NOT NULL,
  owner          TEXT NOT NULL,
  fact_id        TEXT NOT NULL,
  other_fact_id  TEXT NOT NULL,
  status         TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  resolved_at    INTEGER,
  "by"           TEXT,
  reason         TEXT
) STRICT;

CREATE INDEX memory_conflicts_by_creation  ON memory_conflicts (created_at, id);
CREATE INDEX memory_conflicts_by_owner     ON memory_conflicts (owner, created_at, id);
CREATE INDEX memory_conflicts_by_namespace ON memory_conflicts (namespace, created_at, id);
CREATE UNIQUE INDEX memory_conflicts_open  ON memory_conflicts (fact_id, other_fact_id) WHERE status = 'open';
CREATE INDEX memory_conflicts_open_other   ON memory_conflicts (other_fact_id) WHERE status = 'open';
`,
  },
  {
    version: 17,
    name: 'consolidator',
    sql: `
CREATE TABLE jobs (
  key        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  job_key    TEXT NOT NULL,
  phase      TEXT NOT NULL,
  owner      TEXT,
  session_id TEXT,
  attempts   INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,
  lease      TEXT,
  is_again   INTEGER NOT NULL,
  error      TEXT,
  created_at INTEGER NOT NULL,
  failed_at  INTEGER
) STRICT;

CREATE UNIQUE INDEX jobs_alive ON jobs (job_key) WHERE failed_at IS NULL;
CREATE INDEX jobs_due          ON jobs (due_at, id) WHERE failed_at IS NULL;
CREATE INDEX jobs_dead         ON jobs (created_at, id) WHERE failed_at IS NOT NULL;
CREATE INDEX jobs_by_session   ON jobs (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE changed_sessions (
  session_id TEXT PRIMARY KEY,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX changed_sessions_by_change ON changed_sessions (changed_at, session_id);

CREATE TABLE extractions (
  session_id  TEXT PRIMARY KEY,
  through_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE consolidation_spend (
  day      TEXT PRIMARY KEY,
  tokens   INTEGER NOT NULL,
  cost_usd REAL NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO changed_sessions SELECT id, updated_at FROM sessions;

CREATE TRIGGER sessions_made AFTER INSERT ON sessions
BEGIN
  INSERT OR REPLACE INTO changed_sessions VALUES (new.id, new.updated_at);
END;

CREATE TRIGGER sessions_changed AFTER UPDATE OF updated_at ON sessions
BEGIN
  INSERT OR REPLACE INTO changed_sessions VALUES (new.id, new.updated_at);
END;
`,
  },
  /**
   * The next event gets the newest position plus one, without a sequence table. When the newest event is deleted, a
   * trigger leaves an empty row that belongs to no stream, so that its position is never reused. Idempotency keys are no
   * longer hashed as a whole; `meta` records until when old keys stay valid.
   */
  {
    version: 18,
    name: 'fewer-pages',
    sql: `
CREATE TABLE counted_events (
  position   INTEGER PRIMARY KEY,
  run_key    INTEGER REFERENCES run_keys (key),
  session_id TEXT,
  topic      TEXT,
  type       TEXT NOT NULL,
  phase      TEXT,
  at         INTEGER NOT NULL,
  payload    TEXT NOT NULL
) STRICT;

INSERT INTO counted_events SELECT position, run_key, session_id, topic, type, phase, at, payload FROM events;
INSERT INTO counted_events (position, type, at, payload)
  SELECT seq, '', 0, '' FROM sqlite_sequence
  WHERE name = 'events' AND seq > coalesce((SELECT max(position) FROM counted_events), 0);

DROP TABLE events;
ALTER TABLE counted_events RENAME TO events;

CREATE INDEX events_by_run     ON events (run_key) WHERE run_key IS NOT NULL;
CREATE INDEX events_by_session ON events (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX events_by_topic   ON events (topic) WHERE topic IS NOT NULL;

CREATE TRIGGER events_newest AFTER DELETE ON events
WHEN old.position > coalesce((SELECT max(position) FROM events), 0)
BEGIN
  INSERT INTO events (position, type, at, payload) VALUES (old.position, '', old.at, '');
END;

INSERT INTO meta (name, value)
  SELECT 'hashed_ids_until', CAST(coalesce(max(expires_at), 0) AS TEXT) FROM idempotency WHERE length(id) = 64;
`,
  },
  /** A response that a run will provide is found through `content_of`, so the index of executing requests omits it. */
  {
    version: 19,
    name: 'answers-of-runs',
    sql: `
DROP INDEX idempotency_executing;
CREATE INDEX idempotency_executing ON idempotency (run_id) WHERE status IS NULL AND coalesce(run_id, '') IS NOT content_of;
`,
  },
]
