// Floor (c): writes the rows of a durable run that has an idempotency key, with hono and better-sqlite3: once as
// accepted before the run executes, once as finished before the server answers. With FLOOR_GROUPED, the writes of one
// turn of the event loop share a transaction; without it, every request uses two. FLOOR_SYNCHRONOUS is full or normal.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { announce } from './announce.mjs'
import { openRunRows } from './run-rows.mjs'

const { FLOOR_DATABASE = ':memory:', FLOOR_SYNCHRONOUS = 'full', FLOOR_GROUPED } = process.env
const { db, accept, finish } = openRunRows(FLOOR_DATABASE, FLOOR_SYNCHRONOUS)

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
  const input = JSON.stringify(JSON.parse(text).input)
  const runId = randomUUID()
  const key = c.req.header('idempotency-key') ?? runId
  let run = 0
  await commit(() => {
    run = accept({ key, text, runId, input })
  })
  const body = `{"runId":"${runId}","status":"completed","result":${input}}`
  await commit(() => finish({ key, run, input, body }))
  return c.body(body, 200, { 'Content-Type': 'application/json' })
})
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', createServer }, () => announce(server))
