import type { Migration } from './migration.ts'

/** Attachments. The content of a large file is a blob beside the database, under its hash. */
export const files: Migration = {
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
}
