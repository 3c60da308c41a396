// Floor of PostgreSQL: writes the rows of a durable run that has an idempotency key, with hono and pg: once as accepted
// before the run executes, once as finished before the server answers. The writes that wait together share a
// transaction of one statement per table, sent in one round trip, with pinned plans. GET reads the response of a key; the
// reads that wait together are one statement. FLOOR_DATABASE_URL is the URL of the database.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import pg from 'pg'
import { announce } from './announce.mjs'

const MOST = 64
const PINNED = [
  ...['jit=off', 'plan_cache_mode=force_generic_plan', 'enable_seqscan=off', 'enable_hashjoin=off'],
  ...['enable_mergejoin=off', 'enable_bitmapscan=off', 'search_path=floor'],
]

const connect = async () => {
  const options = PINNED.map((setting) => `-c ${setting}`).join(' ')
  const client = new pg.Client({ connectionString: process.env.FLOOR_DATABASE_URL, options, pipeline: true })
  await client.connect()
  return client
}

const writes = await connect()
const reads = await connect()
await writes.query(`
  CREATE SCHEMA floor;
  CREATE TABLE runs (id text PRIMARY KEY, agent text, status text, input text, result text, created_at bigint, ended_at bigint);
  CREATE TABLE keys (id text PRIMARY KEY, fingerprint text, run_id text, status integer, body text, expires_at bigint);
  CREATE TABLE events (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id text, type text, payload text, at bigint);
`)

const INSERT_KEYS = `insert into keys (id, fingerprint, run_id, expires_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])`
const INSERT_RUNS = `insert into runs (id, agent, status, input, created_at)
  select id, 'echo', 'running', input, at from unnest($1::text[], $2::text[], $3::bigint[]) as new (id, input, at)`
const INSERT_EVENTS = `insert into events (run_id, type, payload, at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])`
const END_RUNS = `update runs set status = 'completed', result = ended.result, ended_at = ended.at
  from unnest($1::text[], $2::text[], $3::bigint[]) as ended (id, result, at) where runs.id = ended.id`
const END_KEYS = `update keys set status = 200, body = ended.body
  from unnest($1::text[], $2::text[]) as ended (id, body) where keys.id = ended.id`
const FIND_KEYS = 'select id, body from keys where id = any($1::text[])'

const query = (client, text, rows) => {
  if (rows.length === 0) return []
  const values = rows[0].map((_, column) => rows.map((row) => row[column]))
  return [client.query({ name: text.slice(0, 60), text, values })]
}

const commitAll = (jobs) => {
  const accepted = jobs.flatMap(({ accept }) => accept ?? [])
  const finished = jobs.flatMap(({ finish }) => finish ?? [])
  const { stream } = writes.connection
  stream.cork()
  const sent = [
    writes.query('begin'),
    ...query(
      writes,
      INSERT_KEYS,
      accepted.map(({ key, text, runId, at }) => [key, text, runId, at + 86_400_000]),
    ),
    ...query(
      writes,
      INSERT_RUNS,
      accepted.map(({ runId, input, at }) => [runId, input, at]),
    ),
    ...query(
      writes,
      END_RUNS,
      finished.map(({ runId, input, at }) => [runId, input, at]),
    ),
    ...query(
      writes,
      END_KEYS,
      finished.map(({ key, body }) => [key, body]),
    ),
    ...query(writes, INSERT_EVENTS, [
      ...accepted.map(({ runId, at }) => [runId, 'run.started', '{"status":"running"}', at]),
      ...finished.map(({ runId, body, at }) => [runId, 'run.completed', body, at]),
    ]),
    writes.query('commit'),
  ]
  stream.uncork()
  return Promise.all(sent)
}

const findAll = async (keys) => {
  const [{ rows }] = await Promise.all(
    query(
      reads,
      FIND_KEYS,
      keys.map((key) => [key]),
    ),
  )
  const bodies = new Map(rows.map(({ id, body }) => [id, body]))
  return keys.map((key) => bodies.get(key))
}

/** Hands out what waits, up to `MOST` at a time; meanwhile the next group gathers. */
const grouped = (work) => {
  const waiting = []
  let isWorking = false
  const loop = async () => {
    while (waiting.length > 0) {
      const group = waiting.splice(0, MOST)
      const results = await work(group.map(({ job }) => job))
      for (const [index, { resolve }] of group.entries()) resolve(results[index])
    }
    isWorking = false
  }
  return (job) =>
    new Promise((resolve) => {
      waiting.push({ job, resolve })
      if (isWorking) return
      isWorking = true
      setImmediate(loop)
    })
}

const commit = grouped(commitAll)
const find = grouped(findAll)
const JSON_TYPE = { 'Content-Type': 'application/json' }

const app = new Hono()
app.get('/', async (c) => c.body(await find(c.req.header('idempotency-key')), 200, JSON_TYPE))
app.post('/', async (c) => {
  const text = await c.req.text()
  const input = JSON.stringify(JSON.parse(text).input)
  const runId = randomUUID()
  const key = c.req.header('idempotency-key') ?? runId
  await commit({ accept: { key, text, runId, input, at: Date.now() } })
  const body = `{"runId":"${runId}","status":"completed","result":${input}}`
  await commit({ finish: { key, runId, input, body, at: Date.now() } })
  return c.body(body, 200, JSON_TYPE)
})
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', createServer }, () => announce(server))
process.on('SIGTERM', () => process.exit(0))
