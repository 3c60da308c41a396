import type { Migration } from './migration.ts'

export const FROM_0003: readonly Migration[] = [
  /** `session_fields` is an index from the metadata of a session to the session: it has a row for each member. */
  {
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
  },
  /** `words` holds the words that the domain extracts from a text. A long word is replaced with its hash. */
  {
    version: 4,
    name: 'memory',
    sql: `
CREATE TABLE facts (
  key               bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  id                text COLLATE "C" PRIMARY KEY,
  namespace         text COLLATE "C" NOT NULL,
  owner             text COLLATE "C" NOT NULL,
  importance        double precision NOT NULL,
  weighed_at        bigint NOT NULL,
  fingerprint       text COLLATE "C" NOT NULL,
  source_run_id     text COLLATE "C",
  source_session_id text COLLATE "C",
  created_at        bigint NOT NULL,
  updated_at        bigint NOT NULL,
  expires_at        bigint,
  revision          integer NOT NULL,
  embedded_by       text COLLATE "C",
  tags              text[] COLLATE "C" NOT NULL,
  metadata          text COLLATE "C" NOT NULL,
  words             text[] COLLATE "C" NOT NULL,
  text              text COLLATE "C" NOT NULL
);

CREATE INDEX facts_by_creation    ON facts (created_at, id);
CREATE INDEX facts_by_owner       ON facts (owner, created_at, id);
CREATE INDEX facts_by_namespace   ON facts (namespace, created_at, id);
CREATE INDEX facts_by_fingerprint ON facts (owner, namespace, fingerprint, expires_at);
CREATE INDEX facts_by_weight      ON facts (weighed_at, id) WHERE importance > 0;
CREATE INDEX facts_owner_weight   ON facts (owner, weighed_at, id) WHERE importance > 0;
CREATE INDEX facts_by_expiry      ON facts (expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX facts_unembedded     ON facts (created_at, id) WHERE embedded_by IS NULL;
CREATE INDEX facts_by_run         ON facts (source_run_id) WHERE source_run_id IS NOT NULL;
CREATE INDEX facts_by_session     ON facts (source_session_id, created_at, id) WHERE source_session_id IS NOT NULL;
CREATE INDEX facts_by_word        ON facts USING gin (words);

CREATE TABLE fact_vectors (
  fact_id text COLLATE "C" PRIMARY KEY REFERENCES facts (id) ON DELETE CASCADE,
  vector  bytea NOT NULL
);

CREATE TABLE blocks (
  id         text COLLATE "C" NOT NULL UNIQUE,
  owner      text COLLATE "C" NOT NULL,
  namespace  text COLLATE "C" NOT NULL,
  label      text COLLATE "C" NOT NULL,
  "limit"    integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  value      text COLLATE "C" NOT NULL,
  PRIMARY KEY (owner, namespace, label)
);

CREATE INDEX blocks_by_creation  ON blocks (created_at, id);
CREATE INDEX blocks_by_owner     ON blocks (owner, created_at, id);
CREATE INDEX blocks_by_namespace ON blocks (namespace, created_at, id);

CREATE TABLE memory_conflicts (
  id            text COLLATE "C" PRIMARY KEY,
  namespace     text COLLATE "C" NOT NULL,
  owner         text COLLATE "C" NOT NULL,
  fact_id       text COLLATE "C" NOT NULL,
  other_fact_id text COLLATE "C" NOT NULL,
  status        text COLLATE "C" NOT NULL,
  created_at    bigint NOT NULL,
  resolved_at   bigint,
  "by"          text COLLATE "C",
  reason        text COLLATE "C"
);

CREATE INDEX memory_conflicts_by_creation  ON memory_conflicts (created_at, id);
CREATE INDEX memory_conflicts_by_owner     ON memory_conflicts (owner, created_at, id);
CREATE INDEX memory_conflicts_by_namespace ON memory_conflicts (namespace, created_at, id);
CREATE UNIQUE INDEX memory_conflicts_open  ON memory_conflicts (md5(fact_id), md5(other_fact_id)) WHERE status = 'open';
CREATE INDEX memory_conflicts_open_fact    ON memory_conflicts USING hash (fact_id) WHERE status = 'open';
CREATE INDEX memory_conflicts_open_other   ON memory_conflicts USING hash (other_fact_id) WHERE status = 'open';

CREATE TABLE jobs (
  id         text COLLATE "C" PRIMARY KEY,
  job_key    text COLLATE "C" NOT NULL,
  phase      text COLLATE "C" NOT NULL,
  owner      text COLLATE "C",
  session_id text COLLATE "C",
  attempts   integer NOT NULL,
  due_at     bigint NOT NULL,
  lease      text COLLATE "C",
  is_again   integer NOT NULL,
  error      text COLLATE "C",
  created_at bigint NOT NULL,
  failed_at  bigint
);

CREATE UNIQUE INDEX jobs_alive ON jobs (job_key) WHERE failed_at IS NULL;
CREATE INDEX jobs_due          ON jobs (due_at, id) WHERE failed_at IS NULL;
CREATE INDEX jobs_dead         ON jobs (created_at, id) WHERE failed_at IS NOT NULL;
CREATE INDEX jobs_by_session   ON jobs (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE changed_sessions (
  session_id text COLLATE "C" PRIMARY KEY,
  changed_at bigint NOT NULL
);

CREATE INDEX changed_sessions_by_change ON changed_sessions (changed_at, session_id);

CREATE TABLE extractions (
  session_id  text COLLATE "C" PRIMARY KEY,
  through_seq integer NOT NULL
);

CREATE TABLE consolidation_spend (
  day      text COLLATE "C" PRIMARY KEY,
  tokens   double precision NOT NULL,
  cost_usd double precision NOT NULL
);

CREATE FUNCTION note_changed_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_sessions VALUES (new.id, new.updated_at)
    ON CONFLICT (session_id) DO UPDATE SET changed_at = excluded.changed_at;
  RETURN NULL;
END
$$;

CREATE TRIGGER sessions_made AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION note_changed_session();
CREATE TRIGGER sessions_changed AFTER UPDATE OF updated_at ON sessions
  FOR EACH ROW EXECUTE FUNCTION note_changed_session();
`,
  },
]
