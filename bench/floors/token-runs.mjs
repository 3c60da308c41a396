// Floor of a server as shipped: checks a bearer token (HMAC, its row, comparison in constant time), and writes the rows of
// a durable run that has an idempotency key in two group commits of a storage thread. FLOOR_TOKEN is the accepted token.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Worker } from 'node:worker_threads'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { announce } from './announce.mjs'
import { openTokenCheck } from './token-check.mjs'

const { FLOOR_DATABASE, FLOOR_TOKEN, FLOOR_SYNCHRONOUS = 'full' } = process.env
const isAllowed = openTokenCheck(FLOOR_DATABASE, FLOOR_TOKEN)

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
