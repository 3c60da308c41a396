import type { Migration } from './migration.ts'

/**
 * Indexes for the filters of the list of sessions. `session_fields` is an index from the metadata of a session to the
 * session: it has a row for each member, so a session without metadata has no row.
 */
export const foundSessions: Migration = {
  version: 21,
  name: 'found-sessions',
  sql: `
CREATE INDEX sessions_by_user  ON sessions (user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX sessions_by_agent ON sessions (agent_id, created_at, id) WHERE agent_id IS NOT NULL;

CREATE TABLE session_fields (
  field       TEXT NOT NULL,
  value       TEXT NOT NULL,
  session_at  INTEGER NOT NULL, -- when the session was created
  session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
  PRIMARY KEY (field, value, session_at, session_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_fields_by_session ON session_fields (session_key);

INSERT INTO session_fields (field, value, session_at, session_key)
  SELECT 'metadata.' || member.key, member.value, sessions.created_at, sessions.key
  FROM sessions, json_each(sessions.metadata) AS member WHERE sessions.metadata <> '{}';
`,
}
