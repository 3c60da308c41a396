// Writes the rows of streamed runs, one per event. Commits each group of writes that it receives in one transaction, and
// answers with the row numbers.
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

const db = new Database(workerData.path)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = full')
db.exec(`
  CREATE TABLE runs (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT, status TEXT, input TEXT, result TEXT, created_at INTEGER, ended_at INTEGER) STRICT;
  CREATE TABLE events (position INTEGER PRIMARY KEY, run INTEGER, type TEXT, payload TEXT, at INTEGER) STRICT;
  CREATE INDEX events_run ON events (run, position);
`)
const insertRun = db.prepare('INSERT INTO runs (id, agent, status, input, created_at) VALUES (?, ?, ?, ?, ?)')
const insertEvent = db.prepare('INSERT INTO events (run, type, payload, at) VALUES (?, ?, ?, ?)')
const endRun = db.prepare('UPDATE runs SET status = ?, result = ?, ended_at = ? WHERE key = ?')

const writes = {
  accept({ runId, input, at }) {
    const { lastInsertRowid } = insertRun.run(runId, 'model', 'running', input, at)
    insertEvent.run(lastInsertRowid, 'run.started', '{"status":"running"}', at)
    return Number(lastInsertRowid)
  },
  emit: ({ run, type, payload, at }) => Number(insertEvent.run(run, type, payload, at).lastInsertRowid),
  finish({ run, result, at }) {
    endRun.run('completed', result, at, run)
    return Number(insertEvent.run(run, 'run.completed', result, at).lastInsertRowid)
  },
}

parentPort.on('message', (jobs) => {
  db.exec('BEGIN IMMEDIATE')
  const results = jobs.map(({ name, row }) => writes[name](row))
  db.exec('COMMIT')
  parentPort.postMessage(results)
})
parentPort.postMessage([])
