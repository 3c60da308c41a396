import type { Migration } from './migration.ts'

/** PostgreSQL reads no JSON text that has an escaped null character, or one half of a surrogate pair. */
const isUnreadable = (json: string): string => `${json} ~* '\\\\u(0000|d[89a-f])'`

const briefOf = (message: string, length: number): string => `coalesce(CASE
      WHEN ${isUnreadable(`${message}.content`)} THEN NULL
      WHEN json_typeof(${message}.content::json) = 'string' THEN left(${message}.content::json #>> '{}', ${length})
      WHEN json_typeof(${message}.content::json) = 'object' AND json_typeof(${message}.content::json -> 'text') = 'string'
        THEN left(${message}.content::json ->> 'text', ${length})
    END, '')`

export const FROM_0015: readonly Migration[] = [
  /** What a list of chats shows of a session. The messages of chats that exist already count as read. */
  {
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
  },
  /** Subjects whose credentials were revoked, with the time up to which these were issued. */
  {
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
  },
  /** Files with results of durable calls, and the runs that hold files. */
  {
    version: 17,
    name: 'result-files',
    sql: `
ALTER TABLE steps ADD COLUMN result_file text COLLATE "C";

CREATE TABLE run_files (
  run_id  text COLLATE "C" NOT NULL,
  file_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (run_id, file_id)
);

CREATE INDEX run_files_by_file ON run_files (file_id, run_id);
`,
  },
  /** Facts about the user of a run and of a token, the tokens of a subject by an index, and its usage. */
  {
    version: 18,
    name: 'subjects',
    sql: `
ALTER TABLE runs ADD COLUMN caller text COLLATE "C";
ALTER TABLE tokens ADD COLUMN caller text COLLATE "C";

CREATE INDEX tokens_by_subject ON tokens (subject, created_at);

CREATE INDEX runs_at_work_by_owner ON runs (owner)
  WHERE parent_run_id IS NULL AND (status = 'queued' OR status = 'running');

CREATE TABLE deleted_usage (
  subject  text COLLATE "C" PRIMARY KEY,
  day      integer NOT NULL,
  runs     integer NOT NULL,
  cost_usd double precision NOT NULL
);
`,
  },
  /** Deliveries that hooks have received, and the session that a fire gives its run. */
  {
    version: 19,
    name: 'hook-deliveries',
    sql: `
ALTER TABLE trigger_fires ADD COLUMN session_id text COLLATE "C";

CREATE TABLE hook_deliveries (
  id          text COLLATE "C" PRIMARY KEY,
  hook_id     text COLLATE "C" NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  reason      text COLLATE "C",
  event       text COLLATE "C",
  fire_ids    text COLLATE "C" NOT NULL,
  replays     integer NOT NULL,
  handled_at  bigint NOT NULL,
  created_at  bigint NOT NULL,
  headers     text COLLATE "C" NOT NULL,
  body        text COLLATE "C" NOT NULL
);

CREATE UNIQUE INDEX hook_deliveries_once  ON hook_deliveries (hook_id, delivery_id);
CREATE INDEX hook_deliveries_by_hook      ON hook_deliveries (hook_id, created_at, id);
CREATE INDEX hook_deliveries_dead         ON hook_deliveries (hook_id, created_at, id) WHERE status = 'dead';
CREATE INDEX hook_deliveries_by_creation  ON hook_deliveries (created_at);
`,
  },
  /** The assignee of an approval, the arguments that a decision may change, and the time of the reminder. */
  {
    version: 20,
    name: 'assigned-approvals',
    sql: `
ALTER TABLE approvals ADD COLUMN assignee text COLLATE "C";
ALTER TABLE approvals ADD COLUMN args_schema text COLLATE "C";
ALTER TABLE approvals ADD COLUMN args text COLLATE "C";
ALTER TABLE approvals ADD COLUMN edited_args text COLLATE "C";
ALTER TABLE approvals ADD COLUMN remind_at bigint;
ALTER TABLE approvals ADD COLUMN escalate_to text COLLATE "C";

CREATE INDEX approvals_to_remind ON approvals (remind_at, key)
  WHERE status = 'pending' AND remind_at IS NOT NULL;
`,
  },
  /** The usage of deleted runs for each day, so that a run of another day does not replace it; and an index to prune it. */
  {
    version: 21,
    name: 'usage-per-day',
    sql: `
ALTER TABLE deleted_usage DROP CONSTRAINT deleted_usage_pkey;
ALTER TABLE deleted_usage ADD PRIMARY KEY (subject, day);

CREATE INDEX deleted_usage_by_day ON deleted_usage (day);
`,
  },
]
