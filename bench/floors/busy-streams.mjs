// Floor of a busy agent server: checks a bearer token, writes the rows of each run and of its events in group commits of a
// storage thread, and streams each event with plain SSE when it is stored. FLOOR_TOKEN is the accepted token.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Worker } from 'node:worker_threads'
import { pacedDeltas } from '../paced-deltas.ts'
import { announce } from './announce.mjs'
import { openTokenCheck } from './token-check.mjs'

const { FLOOR_DATABASE: path, FLOOR_TOKEN } = process.env
const isAllowed = openTokenCheck(path, FLOOR_TOKEN)
const thread = new Worker(new URL('./stream-rows-thread.mjs', import.meta.url), { workerData: { path } })
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

function block({ runId, position, type, payload, at }) {
  const eventId = `epoch.${position}`
  const head = { eventId, subject: `agent:model/runs/${runId}/events`, type }
  const data = JSON.stringify({ ...head, payload, at: new Date(at).toISOString(), runId })
  return `id: ${eventId}\nevent: ${type}\ndata: ${data}\n\n`
}

const server = createServer(async (request, response) => {
  if (!isAllowed(request.headers.authorization)) return response.writeHead(401).end()
  let text = ''
  for await (const chunk of request) text += chunk
  const { input } = JSON.parse(text)
  const runId = randomUUID()
  const run = await commit('accept', { runId, input: JSON.stringify(input), at: Date.now() })
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
  for await (const { type, payload } of pacedDeltas(input)) {
    const at = Date.now()
    commit('emit', { run, type, payload: JSON.stringify(payload), at }).then((position) =>
      response.write(block({ runId, position, type, payload, at })),
    )
  }
  const at = Date.now()
  const position = await commit('finish', { run, result: '{}', at })
  response.end(block({ runId, position, type: 'run.completed', payload: {}, at }))
})

await once(thread, 'message')
thread.on('message', (results) => {
  const group = sent
  sent = undefined
  for (const [index, { resolve }] of group.entries()) resolve(results[index])
  send()
})
server.listen(0, '127.0.0.1', () => announce(server))
