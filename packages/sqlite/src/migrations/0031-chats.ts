import type { Migration } from './migration.ts'

const briefOf = (message: string, length: number): string => `coalesce(CASE
      WHEN NOT json_valid(${message}.content) THEN NULL
      WHEN json_type(${message}.content) = 'text' THEN substr(json_extract(${message}.content, '$'), 1, ${length})
      WHEN json_type(${message}.content) = 'object' AND json_type(${message}.content, '$.text') = 'text'
        THEN substr(json_extract(${message}.content, '$.text'), 1, ${length})
    END, '')`

/** What a list of chats shows of a session. The messages of chats that exist already count as read. */
export const chats: Migration = {
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
}
