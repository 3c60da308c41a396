import type { Migration } from './migration.ts'

/** `session_fields` is an index from the metadata of a session to the session: it has a row for each member. */
export const sessions: Migration = {
  version: 3,
  name: 'sessions',
  sql: `
CREATE TABLE sessions (
  id         text COLLATE "C" PRIMARY KEY,
  owner      text COLLATE "C" NOT NULL,
  title      text COLLATE "C",
  user_id    text COLLATE "C",
  agent_id   text COLLATE "C",
  last_seq   integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  metadata   text COLLATE "C" NOT NULL
) WITH (fillfactor = 85);

CREATE INDEX sessions_by_creation ON sessions (created_at, id);
CREATE INDEX sessions_by_owner    ON sessions (owner, created_at, id);
CREATE INDEX sessions_by_user     ON sessions (user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX sessions_by_agent    ON sessions (agent_id, created_at, id) WHERE agent_id IS NOT NULL;
CREATE INDEX sessions_by_activity ON sessions (updated_at, id);

CREATE TABLE session_fields (
  field      text COLLATE "C" NOT NULL,
  value      text COLLATE "C" NOT NULL,
  session_at bigint NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (field, value, session_at, session_id)
);

CREATE INDEX session_fields_by_session ON session_fields (session_id);

CREATE TABLE messages (
  session_id text COLLATE "C" NOT NULL,
  seq        integer NOT NULL,
  id         text COLLATE "C" NOT NULL,
  role       text COLLATE "C" NOT NULL,
  run_id     text COLLATE "C",
  created_at bigint NOT NULL,
  content    text COLLATE "C" NOT NULL,
  PRIMARY KEY (session_id, seq)
);

CREATE TABLE tokens (
  id           text COLLATE "C" PRIMARY KEY,
  digest       text COLLATE "C" NOT NULL UNIQUE,
  name         text COLLATE "C" NOT NULL,
  subject      text COLLATE "C" NOT NULL,
  env          text COLLATE "C" NOT NULL,
  scopes       text COLLATE "C" NOT NULL,
  created_at   bigint NOT NULL,
  created_by   text COLLATE "C" NOT NULL,
  expires_at   bigint,
  last_used_at bigint,
  revoked_at   bigint,
  last4        text COLLATE "C" NOT NULL,
  parent_id    text COLLATE "C",
  replaced_by  text COLLATE "C"
) WITH (fillfactor = 85);

CREATE INDEX tokens_by_creation  ON tokens (created_at, id);
CREATE INDEX tokens_by_parent    ON tokens (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tokens_by_successor ON tokens (replaced_by) WHERE replaced_by IS NOT NULL;

CREATE TABLE triggers (
  id           text COLLATE "C" PRIMARY KEY,
  kind         text COLLATE "C" NOT NULL,
  event        text COLLATE "C",
  is_active    integer NOT NULL,
  due_at       bigint,
  last_fire_id text COLLATE "C",
  last_status  text COLLATE "C",
  version      integer NOT NULL,
  created_at   bigint NOT NULL,
  definition   text COLLATE "C" NOT NULL
);

CREATE INDEX triggers_by_creation ON triggers (created_at, id);
CREATE INDEX triggers_due         ON triggers (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX triggers_by_event    ON triggers (event, id) WHERE event IS NOT NULL;

CREATE TABLE trigger_fires (
  id           text COLLATE "C" PRIMARY KEY,
  trigger_id   text COLLATE "C" NOT NULL,
  scheduled_at bigint NOT NULL,
  cause        text COLLATE "C" NOT NULL,
  status       text COLLATE "C" NOT NULL,
  input        text COLLATE "C",
  fired_at     bigint,
  run_id       text COLLATE "C",
  reason       text COLLATE "C",
  created_at   bigint NOT NULL
);

CREATE UNIQUE INDEX trigger_fires_once ON trigger_fires (trigger_id, scheduled_at) WHERE cause = 'schedule';
CREATE INDEX trigger_fires_by_trigger  ON trigger_fires (trigger_id, created_at, id);
CREATE INDEX trigger_fires_pending     ON trigger_fires (trigger_id, id) WHERE status = 'pending';
CREATE INDEX trigger_fires_started     ON trigger_fires (trigger_id, created_at, id) WHERE status = 'started';
CREATE INDEX trigger_fires_over        ON trigger_fires (created_at) WHERE status <> 'pending' AND status <> 'started';
CREATE INDEX trigger_fires_by_run      ON trigger_fires (run_id) WHERE run_id IS NOT NULL;

CREATE TABLE mcp_servers (
  id          text COLLATE "C" PRIMARY KEY,
  url         text COLLATE "C" NOT NULL,
  headers_ref text COLLATE "C",
  created_at  bigint NOT NULL,
  created_by  text COLLATE "C" NOT NULL
);
`,
}
