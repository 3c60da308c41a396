// The rows of a durable run that has an idempotency key, for the floors that write them.
import Database from 'better-sqlite3'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS runs (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT, status TEXT, input TEXT, result TEXT, created_at INTEGER, ended_at INTEGER) STRICT;
  CREATE TABLE IF NOT EXISTS keys (id TEXT NOT NULL UNIQUE, fingerprint TEXT, run_id TEXT, status INTEGER, body TEXT, expires_at INTEGER) STRICT;
  CREATE TABLE IF NOT EXISTS events (position INTEGER PRIMARY KEY, run INTEGER, type TEXT, payload TEXT, at INTEGER) STRICT;
`

/** Opens the database and returns its two writes: `accept` returns the row number of the run, `finish` takes it. */
export function openRunRows(path, synchronous) {
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  db.pragma(`synchronous = ${synchronous}`)
  db.exec(SCHEMA)
  const insertRun = db.prepare('INSERT INTO runs (id, agent, status, input, created_at) VALUES (?, ?, ?, ?, ?)')
  const insertKey = db.prepare('INSERT INTO keys (id, fingerprint, run_id, expires_at) VALUES (?, ?, ?, ?)')
  const insertEvent = db.prepare('INSERT INTO events (run, type, payload, at) VALUES (?, ?, ?, ?)')
  const endRun = db.prepare('UPDATE runs SET status = ?, result = ?, ended_at = ? WHERE key = ?')
  const endKey = db.prepare('UPDATE keys SET status = ?, body = ? WHERE id = ?')
  return {
    db,
    accept({ key, text, runId, input }) {
      const now = Date.now()
      insertKey.run(key, text, runId, now + 86_400_000)
      const run = Number(insertRun.run(runId, 'echo', 'running', input, now).lastInsertRowid)
      insertEvent.run(run, 'run.started', '{"status":"running"}', now)
      return run
    },
    finish({ key, run, input, body }) {
      const now = Date.now()
      endRun.run('completed', input, now, run)
      endKey.run(200, body, key)
      insertEvent.run(run, 'run.completed', body, now)
    },
  }
}
