import type { Migration } from './migration.ts'

/**
 * The next event gets the newest position plus one, without a sequence table. When the newest event is deleted, a
 * trigger leaves an empty row that belongs to no stream, so that its position is never reused. Idempotency keys are no
 * longer hashed as a whole; `meta` records until when old keys stay valid.
 */
export const fewerPages: Migration = {
  version: 18,
  name: 'fewer-pages',
  sql: `
CREATE TABLE counted_events (
  position   INTEGER PRIMARY KEY,
  run_key    INTEGER REFERENCES run_keys (key),
  session_id TEXT,
  topic      TEXT,
  type       TEXT NOT NULL,
  phase      TEXT,
  at         INTEGER NOT NULL,
  payload    TEXT NOT NULL
) STRICT;

INSERT INTO counted_events SELECT position, run_key, session_id, topic, type, phase, at, payload FROM events;
INSERT INTO counted_events (position, type, at, payload)
  SELECT seq, '', 0, '' FROM sqlite_sequence
  WHERE name = 'events' AND seq > coalesce((SELECT max(position) FROM counted_events), 0);

DROP TABLE events;
ALTER TABLE counted_events RENAME TO events;

CREATE INDEX events_by_run     ON events (run_key) WHERE run_key IS NOT NULL;
CREATE INDEX events_by_session ON events (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX events_by_topic   ON events (topic) WHERE topic IS NOT NULL;

CREATE TRIGGER events_newest AFTER DELETE ON events
WHEN old.position > coalesce((SELECT max(position) FROM events), 0)
BEGIN
  INSERT INTO events (position, type, at, payload) VALUES (old.position, '', old.at, '');
END;

INSERT INTO meta (name, value)
  SELECT 'hashed_ids_until', CAST(coalesce(max(expires_at), 0) AS TEXT) FROM idempotency WHERE length(id) = 64;
`,
}
