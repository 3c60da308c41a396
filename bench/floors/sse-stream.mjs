// Floor (e): plain SSE. A POST with `{ events }` stores that many rows, in one transaction per event loop turn, and
// streams them.
import { createServer } from 'node:http'
import Database from 'better-sqlite3'
import { announce } from './announce.mjs'

const EVENTS_PER_TURN = 64
const db = new Database(process.env.FLOOR_DATABASE ?? ':memory:')
db.pragma('journal_mode = WAL')
db.pragma('synchronous = full')
db.exec(
  'CREATE TABLE events (position INTEGER PRIMARY KEY, run INTEGER, type TEXT, payload TEXT, at INTEGER) STRICT; CREATE INDEX events_run ON events (run, position);',
)
const insert = db.prepare('INSERT INTO events (run, type, payload, at) VALUES (?, ?, ?, ?)')
let runs = 0

const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const { events } = JSON.parse(text).input
  const run = ++runs
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
  for (let from = 0; from < events; from += EVENTS_PER_TURN) {
    const at = Date.now()
    const blocks = []
    db.exec('BEGIN IMMEDIATE')
    for (let index = from; index < Math.min(events, from + EVENTS_PER_TURN); index++) {
      const payload = JSON.stringify({ delta: `word ${index}` })
      const { lastInsertRowid } = insert.run(run, 'text.delta', payload, at)
      const head = { eventId: `epoch.${lastInsertRowid}`, subject: 'agent:talk/runs/r/events', type: 'text.delta' }
      const data = JSON.stringify({ ...head, payload: { delta: `word ${index}` }, at: new Date(at).toISOString() })
      blocks.push(`id: epoch.${lastInsertRowid}\nevent: text.delta\ndata: ${data}\n\n`)
    }
    db.exec('COMMIT')
    response.write(blocks.join(''))
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
})
server.listen(0, '127.0.0.1', () => announce(server))
