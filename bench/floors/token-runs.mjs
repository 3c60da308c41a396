// Floor of a server as shipped: checks a bearer token (HMAC, its row, comparison in constant time), and writes the rows of
// a durable run that has an idempotency key in two group commits of a storage thread. FLOOR_TOKEN is the accepted token.
import { createHmac, createSecretKey, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { Worker } from 'node:worker_threads'
import { serve } from '@hono/node-server'
import Database from 'better-sqlite3'
import { Hono } from 'hono'
import { announce } from './announce.mjs'

const { FLOOR_DATABASE, FLOOR_TOKEN, FLOOR_SYNCHRONOUS = 'full' } = process.env
const pepper = createSecretKey(randomBytes(32))
const digestOf = (token) => createHmac('sha256', pepper).update(token).digest('hex')

const db = new Database(FLOOR_DATABASE)
db.pragma('journal_mode = WAL')
db.exec('CREATE TABLE tokens (id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, revoked_at INTEGER) STRICT')
db.prepare('INSERT INTO tokens (id, digest) VALUES (?, ?)').run('token', digestOf(FLOOR_TOKEN))
const selectToken = db.prepare('SELECT id, digest, revoked_at FROM tokens WHERE digest = ?')

function isAllowed(authorization = '') {
  const digest = digestOf(authorization.slice('Bearer '.length))
  const token = selectToken.get(digest)
  if (token === undefined || token.revoked_at !== null) return false
  return timingSafeEqual(Buffer.from(token.digest), Buffer.from(digest))
}

const thread = new Worker(new URL('./run-rows-thread.mjs', import.meta.url), {
  workerData: { path: FLOOR_DATABASE, synchronous: FLOOR_SYNCHRONOUS },
})
let waiting = []
/** The group that the thread is committing. */
let sent

function send() {
  if (sent !== undefined || waiting.length === 0) return
  sent = waiting
  waiting = []
  thread.postMessage(sent.map(({ name, row }) => ({ name, row })))
}

const commit = (name, row) =>
  new Promise((resolve) => {
    waiting.push({ name, row, resolve })
    if (waiting.length === 1) setImmediate(send)
  })

const app = new Hono()
app.post('/', async (c) => {
  if (!isAllowed(c.req.header('authorization'))) return c.json({ error: 'auth-invalid' }, 401)
  const text = await c.req.text()
  const input = JSON.stringify(JSON.parse(text).input)
  const runId = randomUUID()
  const key = c.req.header('idempotency-key') ?? runId
  const run = await commit('accept', { key, text, runId, input })
  const body = `{"runId":"${runId}","status":"completed","result":${input}}`
  await commit('finish', { key, run, input, body })
  return c.body(body, 200, { 'Content-Type': 'application/json' })
})

thread.once('message', () => {
  thread.on('message', (results) => {
    const group = sent
    sent = undefined
    for (const [index, { resolve }] of group.entries()) resolve(results[index])
    send()
  })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', createServer }, () => announce(server))
})
