import type { Migration } from './migration.ts'

/**
 * Texts compare by code point, as in SQLite: lists that are ordered by a text are the same on every adapter.
 *
 * `node_groups` has a row for each transaction of a node: it tells whether a transaction whose commit was not answered
 * was committed, at which position its events begin, and how many responses it has completed.
 *
 * `expect_rows` fails a transaction whose statements were all sent together.
 *
 * When the newest event is deleted, a trigger leaves an empty row that belongs to no stream, so that its position is
 * never used again.
 */
export const log: Migration = {
  version: 1,
  name: 'log',
  sql: `
CREATE TABLE meta (
  name  text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL
);

INSERT INTO meta (name, value) VALUES
  ('epoch', substr(replace(gen_random_uuid()::text, '-', ''), 1, 16)),
  ('trimmed_through', '0');

CREATE TABLE nodes (
  id         text COLLATE "C" PRIMARY KEY,
  name       text COLLATE "C" NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 10);

CREATE TABLE node_groups (
  node           text COLLATE "C" NOT NULL,
  number         bigint NOT NULL,
  first_position bigint,
  completed      integer,
  PRIMARY KEY (node, number)
);

CREATE TABLE events (
  position   bigint PRIMARY KEY,
  run_id     text COLLATE "C",
  session_id text COLLATE "C",
  topic      text COLLATE "C",
  type       text COLLATE "C" NOT NULL,
  phase      text COLLATE "C",
  at         bigint NOT NULL,
  payload    text COLLATE "C" NOT NULL
);

CREATE INDEX events_by_run     ON events (run_id, position) WHERE run_id IS NOT NULL;
CREATE INDEX events_by_session ON events (session_id, position) WHERE session_id IS NOT NULL;
CREATE INDEX events_by_topic   ON events (topic, position) WHERE topic IS NOT NULL;

CREATE FUNCTION keep_newest_position() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO events (position, type, at, payload)
    SELECT position, '', at, '' FROM deleted
    WHERE position > coalesce((SELECT max(position) FROM events), 0)
    ORDER BY position DESC LIMIT 1;
  RETURN NULL;
END
$$;

CREATE TRIGGER events_newest AFTER DELETE ON events REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION keep_newest_position();

CREATE FUNCTION expect_rows(counted bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF counted <> expected THEN
    RAISE EXCEPTION USING ERRCODE = 'BR001', MESSAGE = 'a condition of the commit does not hold';
  END IF;
END
$$;

CREATE TABLE idempotency (
  id           text COLLATE "C" PRIMARY KEY,
  fingerprint  text COLLATE "C" NOT NULL,
  run_id       text COLLATE "C",
  content_of   text COLLATE "C",
  created_at   bigint NOT NULL,
  expires_at   bigint NOT NULL,
  executor     text COLLATE "C",
  patient_until bigint,
  status       integer,
  location     text COLLATE "C",
  content_type text COLLATE "C",
  sealed       integer,
  body         text COLLATE "C"
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX idempotency_executing ON idempotency (run_id)
  WHERE status IS NULL AND coalesce(run_id, '') IS DISTINCT FROM content_of;
CREATE INDEX idempotency_by_content ON idempotency (content_of) WHERE content_of IS NOT NULL;
CREATE INDEX idempotency_answered ON idempotency (expires_at) WHERE status IS NOT NULL;

CREATE TABLE audit_entries (
  seq       bigint PRIMARY KEY,
  hash      text COLLATE "C" NOT NULL,
  prev_hash text COLLATE "C" NOT NULL,
  entry     text COLLATE "C" NOT NULL
);

CREATE TABLE audit_heads (
  name text COLLATE "C" PRIMARY KEY CHECK (name IN ('head', 'base')),
  seq  bigint NOT NULL,
  hash text COLLATE "C" NOT NULL,
  mac  text COLLATE "C" NOT NULL
);

CREATE TABLE audit_outbox (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key      text COLLATE "C" NOT NULL UNIQUE,
  entry    text COLLATE "C" NOT NULL
);

CREATE TABLE audit_sources (
  key text COLLATE "C" PRIMARY KEY
);
`,
}
