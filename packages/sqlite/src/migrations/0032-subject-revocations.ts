import type { Migration } from './migration.ts'

/** Subjects whose credentials were revoked, with the time up to which these were issued. */
export const subjectRevocations: Migration = {
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
}
