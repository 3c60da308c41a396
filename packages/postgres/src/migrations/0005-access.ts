import type { Migration } from './migration.ts'

/**
 * What processes share for a short time: both tables are emptied by a crash of the server, which is as if every ticket had
 * expired and every address had started over.
 *
 * `insert_ticket` counts and inserts under a lock: each of its statements sees what was committed before.
 */
export const access: Migration = {
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
}
