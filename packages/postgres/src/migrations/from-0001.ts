import type { Migration } from './migration.ts'

export const FROM_0001: readonly Migration[] = [
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
  {
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
  },
  /**
   * `run_fields` is an index from values of a run to the run. It has a row for each value that a list can filter by and
   * that has no column with an index. `run_follow_ups` names the ended runs with follow-ups that are not done. `lanes` has a
   * row for each taken slot.
   */
  {
    version: 2,
    name: 'runs',
    sql: `
CREATE TABLE runs (
  id            text COLLATE "C" PRIMARY KEY,
  kind          text COLLATE "C" NOT NULL,
  target_id     text COLLATE "C" NOT NULL,
  version       text COLLATE "C",
  thread_id     text COLLATE "C",
  session_id    text COLLATE "C",
  owner         text COLLATE "C" NOT NULL,
  user_id       text COLLATE "C",
  status        text COLLATE "C" NOT NULL,
  finish_reason text COLLATE "C",
  attempt       integer NOT NULL,
  execution     integer NOT NULL,
  executor      text COLLATE "C",
  retries       integer,
  priority      integer,
  timeout_ms    bigint,
  depth         integer NOT NULL,
  parent_run_id text COLLATE "C",
  parent_seq    integer,
  fork_run_id   text COLLATE "C",
  fork_seq      integer,
  trigger_id    text COLLATE "C",
  traceparent   text COLLATE "C",
  created_at    bigint NOT NULL,
  start_at      bigint,
  started_at    bigint,
  suspended_at  bigint,
  completed_at  bigint,
  deadline_at   bigint,
  usage         text COLLATE "C" NOT NULL,
  budget        text COLLATE "C",
  abort_reason  text COLLATE "C",
  flow          text COLLATE "C",
  metadata      text COLLATE "C" NOT NULL,
  parked        text COLLATE "C",
  error         text COLLATE "C",
  input         text COLLATE "C" NOT NULL,
  result        text COLLATE "C",
  suspension    text COLLATE "C",
  resumption    text COLLATE "C"
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX runs_by_creation ON runs (created_at, id);
CREATE INDEX runs_by_owner    ON runs (owner, created_at, id);
CREATE INDEX runs_by_target   ON runs (target_id, created_at, id);
CREATE INDEX runs_by_session  ON runs (session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX runs_by_thread   ON runs (thread_id, created_at, id) WHERE thread_id IS NOT NULL;
CREATE INDEX runs_by_parent   ON runs (parent_run_id, created_at, id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_active      ON runs (status, created_at, id)
  WHERE status = 'queued' OR status = 'running' OR status = 'suspended';
CREATE INDEX runs_unsuccessful ON runs (status, created_at, id) WHERE status = 'failed' OR status = 'aborted';
CREATE INDEX runs_by_deadline ON runs (deadline_at)
  WHERE deadline_at IS NOT NULL AND status NOT IN ('completed', 'failed', 'aborted');
CREATE INDEX runs_asked_for   ON runs (completed_at)
  WHERE trigger_id IS NULL AND parent_run_id IS NULL AND completed_at IS NOT NULL;
CREATE INDEX runs_busy_by_session ON runs (session_id)
  WHERE session_id IS NOT NULL AND (status = 'queued' OR status = 'running' OR status = 'suspended');
CREATE INDEX runs_by_start    ON runs (start_at, id) WHERE start_at IS NOT NULL AND status = 'queued';
CREATE INDEX runs_parked      ON runs (created_at, id)
  WHERE parked IS NOT NULL AND parked <> 'null' AND status = 'suspended';

CREATE UNIQUE INDEX runs_active_thread ON runs (thread_id, target_id)
  WHERE thread_id IS NOT NULL AND kind = 'workflow' AND status NOT IN ('completed', 'failed', 'aborted');

CREATE TABLE run_follow_ups (
  run_id text COLLATE "C" PRIMARY KEY
);

CREATE TABLE run_fields (
  field  text COLLATE "C" NOT NULL,
  value  text COLLATE "C" NOT NULL,
  run_at bigint NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (field, value, run_at, run_id)
);

CREATE INDEX run_fields_by_run ON run_fields (run_id);

CREATE TABLE lanes (
  lane    text COLLATE "C" NOT NULL,
  slot    integer NOT NULL,
  run_id  text COLLATE "C" NOT NULL,
  free_at bigint,
  PRIMARY KEY (lane, slot)
);

CREATE INDEX lanes_held ON lanes (run_id) WHERE free_at IS NULL;
CREATE INDEX lanes_free ON lanes (free_at) WHERE free_at IS NOT NULL;

CREATE TABLE steps (
  key          bigint GENERATED ALWAYS AS IDENTITY,
  run_id       text COLLATE "C" NOT NULL,
  seq          integer NOT NULL,
  kind         text COLLATE "C" NOT NULL,
  name         text COLLATE "C" NOT NULL,
  status       text COLLATE "C" NOT NULL,
  attempt      integer NOT NULL,
  "order"      integer,
  due_at       bigint,
  event_name   text COLLATE "C",
  approval_id  text COLLATE "C",
  child_run_id text COLLATE "C",
  started_at   bigint NOT NULL,
  settled_at   bigint,
  usage        text COLLATE "C",
  error        text COLLATE "C",
  result       text COLLATE "C",
  PRIMARY KEY (run_id, seq)
);

CREATE INDEX steps_settled ON steps (run_id, "order") WHERE "order" IS NOT NULL;
CREATE INDEX steps_due ON steps (due_at, key) WHERE status = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX steps_by_event ON steps (event_name, started_at, key)
  WHERE status = 'waiting' AND event_name IS NOT NULL;
CREATE INDEX steps_by_run_and_event ON steps (run_id, event_name, started_at, key)
  WHERE status = 'waiting' AND event_name IS NOT NULL;
CREATE INDEX steps_by_child ON steps (child_run_id) WHERE status = 'waiting' AND child_run_id IS NOT NULL;

CREATE TABLE approvals (
  key          bigint GENERATED ALWAYS AS IDENTITY,
  id           text COLLATE "C" PRIMARY KEY,
  run_id       text COLLATE "C" NOT NULL,
  seq          integer,
  kind         text COLLATE "C" NOT NULL,
  target_id    text COLLATE "C" NOT NULL,
  session_id   text COLLATE "C",
  owner        text COLLATE "C" NOT NULL,
  name         text COLLATE "C" NOT NULL,
  title        text COLLATE "C",
  tool_call_id text COLLATE "C",
  status       text COLLATE "C" NOT NULL,
  created_at   bigint NOT NULL,
  expires_at   bigint,
  resolved_at  bigint,
  "by"         text COLLATE "C",
  reason       text COLLATE "C",
  payload      text COLLATE "C",
  decision     text COLLATE "C"
);

CREATE INDEX approvals_by_creation ON approvals (created_at, id);
CREATE INDEX approvals_by_owner    ON approvals (owner, created_at, id);
CREATE INDEX approvals_by_run      ON approvals (run_id, created_at, id);
CREATE INDEX approvals_pending     ON approvals (created_at, id) WHERE status = 'pending';
CREATE INDEX approvals_pending_by_owner ON approvals (owner, created_at, id) WHERE status = 'pending';
CREATE INDEX approvals_due         ON approvals (expires_at, key)
  WHERE status = 'pending' AND seq IS NULL AND expires_at IS NOT NULL;

CREATE TABLE emissions (
  key        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id         text COLLATE "C" NOT NULL UNIQUE,
  event_name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  waits      text COLLATE "C" NOT NULL,
  payload    text COLLATE "C" NOT NULL
);
`,
  },
]
