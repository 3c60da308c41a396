import type { Migration } from './migration.ts'

/** Subjects whose credentials were revoked, with the time up to which these were issued. */
export const subjectRevocations: Migration = {
  version: 16,
  name: 'subject-revocations',
  sql: `
CREATE TABLE subject_revocations (
  subject      text COLLATE "C" PRIMARY KEY,
  issued_until bigint NOT NULL,
  revoked_at   bigint NOT NULL,
  revoked_by   text COLLATE "C" NOT NULL
);
`,
}
