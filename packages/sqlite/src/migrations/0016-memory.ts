import type { Migration } from './migration.ts'

/**
 * `fact_words` holds the words that the domain extracts from a text, joined by spaces; the tokenizer only splits at
 * spaces.
 */
export const memory: Migration = {
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
}
