import type { Migration } from './migration.ts'

/** Attachments. The content of a large file is a blob beside the database, under its hash. */
export const files: Migration = {
  version: 14,
  name: 'files',
  sql: `
CREATE TABLE files (
  id         text COLLATE "C" PRIMARY KEY,
  owner      text COLLATE "C" NOT NULL,
  sha256     text COLLATE "C" NOT NULL,
  size       bigint NOT NULL,
  media_type text COLLATE "C" NOT NULL,
  name       text COLLATE "C",
  created_at bigint NOT NULL,
  is_held    integer NOT NULL,
  content    bytea
);

CREATE TABLE file_holders (
  file_id    text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (file_id, session_id)
);

CREATE INDEX files_by_creation       ON files (created_at, id);
CREATE INDEX files_by_owner          ON files (owner, created_at, id);
CREATE INDEX files_usage             ON files (owner, size);
CREATE INDEX files_unheld            ON files (created_at, id) WHERE is_held = 0;
CREATE INDEX files_of_blob           ON files (sha256) WHERE content IS NULL;
CREATE INDEX file_holders_by_session ON file_holders (session_id, file_id);
`,
}
