import type { Migration } from './migration.ts'

/** `words` holds the words that the domain extracts from a text. A long word is replaced with its hash. */
export const memory: Migration = {
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
}
