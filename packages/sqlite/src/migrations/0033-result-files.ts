import type { Migration } from './migration.ts'

/** Files with results of durable calls, and the runs that hold files. */
export const resultFiles: Migration = {
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
}
