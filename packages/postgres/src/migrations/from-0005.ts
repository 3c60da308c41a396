import type { Migration } from './migration.ts'

export const FROM_0005: readonly Migration[] = [
  /**
   * What processes share for a short time: both tables are emptied by a crash of the server, which is as if every ticket had
   * expired and every address had started over.
   *
   * `insert_ticket` counts and inserts under a lock: each of its statements sees what was committed before.
   */
  {
    version: 5,
    name: 'access',
    sql: `
CREATE UNLOGGED TABLE tickets (
  number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest     text COLLATE "C" NOT NULL UNIQUE,
  holder     text COLLATE "C" NOT NULL,
  principal  text COLLATE "C" NOT NULL,
  origin     text COLLATE "C",
  expires_at bigint NOT NULL,
  is_spent   boolean NOT NULL DEFAULT false
);

CREATE INDEX tickets_outstanding ON tickets (holder, expires_at) WHERE NOT is_spent;

CREATE FUNCTION insert_ticket(new_digest text, new_holder text, new_principal text, new_origin text, new_expires_at bigint,
  per_holder integer, in_all integer, at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE new_number bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1651864181, hashtext(current_schema()));
  IF (SELECT count(*) FROM tickets WHERE NOT is_spent AND holder = new_holder AND expires_at > at) >= per_holder
    OR (SELECT count(*) FROM tickets WHERE NOT is_spent AND expires_at > at) >= in_all
  THEN RETURN false; END IF;
  INSERT INTO tickets (digest, holder, principal, origin, expires_at)
    VALUES (new_digest, new_holder, new_principal, new_origin, new_expires_at)
    RETURNING number INTO new_number;
  DELETE FROM tickets WHERE number < new_number - 10000 AND (is_spent OR expires_at <= at);
  RETURN true;
END
$$;

CREATE UNLOGGED TABLE lockouts (
  address      text COLLATE "C" PRIMARY KEY,
  failed_at    text COLLATE "C" NOT NULL,
  locks        integer NOT NULL,
  locked_until bigint NOT NULL,
  last_at      bigint NOT NULL,
  version      integer NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX lockouts_by_lock ON lockouts (locked_until);
CREATE INDEX lockouts_by_change ON lockouts (last_at);
`,
  },
  /**
   * A node without a lease has the schema for itself, or is a command beside a server. `departed_nodes` names the nodes that
   * have left, until everything that they left behind is recovered.
   */
  {
    version: 6,
    name: 'cluster',
    sql: `
ALTER TABLE nodes
  ADD COLUMN role text COLLATE "C" NOT NULL DEFAULT 'sole',
  ADD COLUMN lease_until timestamptz;

CREATE TABLE departed_nodes (
  id          text COLLATE "C" PRIMARY KEY,
  departed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE duties (
  name text COLLATE "C" PRIMARY KEY,
  node text COLLATE "C" NOT NULL
);

CREATE INDEX runs_queued ON runs (target_id, owner, created_at, id) WHERE status = 'queued';
`,
  },
  {
    version: 7,
    name: 'webhooks',
    sql: `
CREATE TABLE webhooks (
  id         text COLLATE "C" PRIMARY KEY,
  version    integer NOT NULL,
  created_at bigint NOT NULL,
  definition text COLLATE "C" NOT NULL
);

CREATE TABLE webhook_deliveries (
  id               text COLLATE "C" PRIMARY KEY,
  webhook_id       text COLLATE "C" NOT NULL,
  type             text COLLATE "C" NOT NULL,
  position         bigint NOT NULL,
  status           text COLLATE "C" NOT NULL,
  attempts         integer NOT NULL,
  earlier_attempts integer NOT NULL,
  due_at           bigint NOT NULL,
  lease            text COLLATE "C",
  response_status  integer,
  error            text COLLATE "C",
  ended_at         bigint,
  created_at       bigint NOT NULL
);

CREATE UNIQUE INDEX webhook_deliveries_once  ON webhook_deliveries (webhook_id, position) WHERE position > 0;
CREATE INDEX webhook_deliveries_by_webhook   ON webhook_deliveries (webhook_id, created_at, id);
CREATE INDEX webhook_deliveries_unattempted  ON webhook_deliveries (webhook_id, position, id)
  WHERE status = 'pending' AND attempts = 0;
CREATE INDEX webhook_deliveries_due          ON webhook_deliveries (webhook_id, due_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_pending      ON webhook_deliveries (webhook_id, created_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_dead         ON webhook_deliveries (webhook_id, created_at, id) WHERE status = 'dead';
CREATE INDEX webhook_deliveries_claimed      ON webhook_deliveries (lease) WHERE lease IS NOT NULL;
CREATE INDEX webhook_deliveries_over         ON webhook_deliveries (created_at) WHERE status <> 'pending';
`,
  },
  /**
   * What a server tells the others of its cluster: its release, the newest schema that it can read, fingerprints of its token peppers
   * and of its configuration, and its code. Servers of earlier releases ignore the columns.
   */
  {
    version: 8,
    name: 'nodes',
    readableFrom: 7,
    sql: `
ALTER TABLE nodes
  ADD COLUMN version         text COLLATE "C",
  ADD COLUMN schema_version  integer,
  ADD COLUMN peppers         text[] NOT NULL DEFAULT '{}',
  ADD COLUMN settings        text COLLATE "C" NOT NULL DEFAULT '{}',
  ADD COLUMN targets         text[] NOT NULL DEFAULT '{}',
  ADD COLUMN drain_requested boolean NOT NULL DEFAULT false,
  ADD COLUMN is_draining     boolean NOT NULL DEFAULT false;
`,
  },
  /**
   * Approvals are `approved`, no longer `granted`, and a budget limits `maxDuration`, no longer `wallClockMs`. The server
   * alone writes decisions and budgets: a decision begins with its verdict, and a budget has only numbers. Events are
   * translated when they are read (`toEventPayload`); audit entries and what clients and agents have written stay as they are.
   * Steps count their recoveries.
   *
   * The statements read whole tables, which can take longer than the timeout of other migrations.
   */
  {
    version: 9,
    name: 'approved',
    sql: `
SET LOCAL statement_timeout = 0;

UPDATE approvals SET status = 'approved' WHERE status = 'granted';

UPDATE steps SET result = '{"approved":' || substr(result, length('{"granted":') + 1)
  WHERE kind = 'approval' AND starts_with(result, '{"granted":');

UPDATE runs SET budget = replace(budget, '"wallClockMs":', '"maxDuration":')
  WHERE budget IS NOT NULL AND strpos(budget, '"wallClockMs":') > 0;

ALTER TABLE steps ADD COLUMN recoveries integer;
`,
  },
  /** What the configuration of a server declares. Missing for servers of earlier releases, which ignore the column. */
  {
    version: 10,
    name: 'declarations',
    readableFrom: 9,
    sql: `
ALTER TABLE nodes ADD COLUMN declares text[];
`,
  },
  /**
   * An index on the runs of a session that no run has started, because such a run can start any number of runs. Building it
   * reads the whole table, which can take longer than the timeout of other migrations.
   */
  {
    version: 11,
    name: 'root-runs',
    sql: `
SET LOCAL statement_timeout = 0;

CREATE INDEX runs_roots_by_session ON runs (session_id, created_at, id)
  WHERE session_id IS NOT NULL AND coalesce(parent_run_id, '') = '';
`,
  },
  /** A decision counts only for what was asked: the waiting call stores its hash. */
  {
    version: 12,
    name: 'asked-hash',
    sql: `
ALTER TABLE steps ADD COLUMN asked_hash text COLLATE "C";
`,
  },
  /** A run that replaces turns of its session withdraws them. The index has the turns that are left. */
  {
    version: 13,
    name: 'turns',
    sql: `
SET LOCAL statement_timeout = 0;

ALTER TABLE runs ADD COLUMN withdrawn_by text COLLATE "C";

CREATE INDEX runs_turns_by_session ON runs (session_id, created_at, id)
  WHERE session_id IS NOT NULL AND coalesce(parent_run_id, '') = '' AND withdrawn_by IS NULL;
`,
  },
  /** Attachments. The content of a large file is a blob beside the database, under its hash. */
  {
    version: 14,
    name: 'files',
    sql: `
CREATE TABLE files (
  id         text COLLATE "C" PRIMARY KEY,
  owner      text COLLATE "C" NOT NULL,
  sha256     text COLLATE "C" NOT NULL,
  size       bigint NOT NULL,
  media_type text COLLATE "C" NOT NULL,
  name       text COLLATE "C",
  created_at bigint NOT NULL,
  is_held    integer NOT NULL,
  content    bytea
);

CREATE TABLE file_holders (
  file_id    text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (file_id, session_id)
);

CREATE INDEX files_by_creation       ON files (created_at, id);
CREATE INDEX files_by_owner          ON files (owner, created_at, id);
CREATE INDEX files_usage             ON files (owner, size);
CREATE INDEX files_unheld            ON files (created_at, id) WHERE is_held = 0;
CREATE INDEX files_of_blob           ON files (sha256) WHERE content IS NULL;
CREATE INDEX file_holders_by_session ON file_holders (session_id, file_id);
`,
  },
]
