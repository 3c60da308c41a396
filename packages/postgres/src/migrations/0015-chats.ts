import type { Migration } from './migration.ts'

/** PostgreSQL reads no JSON text that has an escaped null character, or one half of a surrogate pair. */
const isUnreadable = (json: string): string => `${json} ~* '\\\\u(0000|d[89a-f])'`

const briefOf = (message: string, length: number): string => `coalesce(CASE
      WHEN ${isUnreadable(`${message}.content`)} THEN NULL
      WHEN json_typeof(${message}.content::json) = 'string' THEN left(${message}.content::json #>> '{}', ${length})
      WHEN json_typeof(${message}.content::json) = 'object' AND json_typeof(${message}.content::json -> 'text') = 'string'
        THEN left(${message}.content::json ->> 'text', ${length})
    END, '')`

/** What a list of chats shows of a session. The messages of chats that exist already count as read. */
export const chats: Migration = {
  version: 15,
  name: 'chats',
  sql: `
SET LOCAL statement_timeout = 0;

CREATE TABLE chats (
  session_id text COLLATE "C" PRIMARY KEY,
  chat_id    text COLLATE "C" NOT NULL,
  agent_id   text COLLATE "C" NOT NULL,
  owner      text COLLATE "C" NOT NULL,
  first_text text COLLATE "C" NOT NULL,
  title      text COLLATE "C",
  last_role  text COLLATE "C",
  last_text  text COLLATE "C",
  last_at    bigint,
  last_seq   integer NOT NULL,
  answer_seq integer NOT NULL,
  read_seq   integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);

INSERT INTO chats (session_id, chat_id, agent_id, owner, first_text, last_role, last_text, last_at, last_seq, answer_seq,
    read_seq, created_at, updated_at)
  SELECT found.id, found.metadata::json ->> 'interop.id', agent_id, owner, ${briefOf('first', 80)}, last.role,
    CASE WHEN last.role IS NOT NULL THEN ${briefOf('last', 200)} END, last.created_at, last_seq,
    coalesce((SELECT max(seq) FROM messages WHERE session_id = found.id AND role = 'assistant'), 0),
    last_seq, found.created_at, updated_at
  FROM (
      SELECT sessions.* FROM sessions JOIN session_fields ON session_id = sessions.id AND field = 'metadata.interop.id'
      WHERE agent_id IS NOT NULL AND NOT ${isUnreadable('metadata')} OFFSET 0
    ) AS found
    LEFT JOIN messages AS first ON first.session_id = found.id AND first.seq = 1
    LEFT JOIN messages AS last ON last.session_id = found.id AND last.seq = found.last_seq;

CREATE INDEX chats_by_owner ON chats (owner, agent_id, updated_at, session_id);
CREATE INDEX chats_by_agent ON chats (coalesce(agent_id, ''), updated_at, session_id);
`,
}
