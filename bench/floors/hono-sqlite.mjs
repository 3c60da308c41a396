// Floor (c): writes the rows of a durable run that has an idempotency key, with hono and better-sqlite3: once as
// accepted before the run executes, once as finished before the server answers. With FLOOR_GROUPED, the writes of one
// turn of the event loop share a transaction; without it, every request uses two. FLOOR_SYNCHRONOUS is full or normal.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { serve } from '@hono/node-server'
import Database from 'better-sqlite3'
import { Hono } from 'hono'
import { announce } from './announce.mjs'

const { FLOOR_DATABASE = ':memory:', FLOOR_SYNCHRONOUS = 'full', FLOOR_GROUPED } = process.env
const db = new Database(FLOOR_DATABASE)
db.pragma('journal_mode = WAL')
db.pragma(`synchronous = ${FLOOR_SYNCHRONOUS}`)
db.exec(`
  CREATE TABLE runs (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT, status TEXT, input TEXT, result TEXT, created_at INTEGER, ended_at INTEGER) STRICT;
  CREATE TABLE keys (id TEXT NOT NULL UNIQUE, fingerprint TEXT, run_id TEXT, status INTEGER, body TEXT, expires_at INTEGER) STRICT;
  CREATE TABLE events (position INTEGER PRIMARY KEY, run INTEGER, type TEXT, payload TEXT, at INTEGER) STRICT;
`)
const insertRun = db.prepare('INSERT INTO runs (id, agent, status, input, created_at) VALUES (?, ?, ?, ?, ?)')
const insertKey = db.prepare('INSERT INTO keys (id, fingerprint, run_id, expires_at) VALUES (?, ?, ?, ?)')
const insertEvent = db.prepare('INSERT INTO events (run, type, payload, at) VALUES (?, ?, ?, ?)')
const endRun = db.prepare('UPDATE runs SET status = ?, result = ?, ended_at = ? WHERE key = ?')
const endKey = db.prepare('UPDATE keys SET status = ?, body = ? WHERE id = ?')

const waiting = []

const flush = () => {
  const jobs = waiting.splice(0)
  db.exec('BEGIN IMMEDIATE')
  for (const { work } of jobs) work()
  db.exec('COMMIT')
  for (const { resolve } of jobs) resolve()
}

const commit = (work) =>
  new Promise((resolve) => {
    waiting.push({ work, resolve })
    if (FLOOR_GROUPED === undefined) flush()
    else if (waiting.length === 1) setImmediate(flush)
  })

const app = new Hono()
app.get('/', (c) => c.json({ ok: true }))
app.post('/', async (c) => {
  const text = await c.req.text()
  const { input } = JSON.parse(text)
  const runId = randomUUID()
  const key = c.req.header('idempotency-key') ?? runId
  let run = 0
  await commit(() => {
    const now = Date.now()
    insertKey.run(key, text, runId, now + 86_400_000)
    run = Number(insertRun.run(runId, 'echo', 'running', JSON.stringify(input), now).lastInsertRowid)
    insertEvent.run(run, 'run.started', '{"status":"running"}', now)
  })
  const body = JSON.stringify({ runId, status: 'completed', result: input })
  await commit(() => {
    const now = Date.now()
    endRun.run('completed', JSON.stringify(input), now, run)
    endKey.run(200, body, key)
    insertEvent.run(run, 'run.completed', body, now)
  })
  return c.body(body, 200, { 'Content-Type': 'application/json' })
})
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', createServer }, () => announce(server))
