// Floor (d): plain ws. A POST with `{ events }` sends that many events to every socket. Each event is serialized and
// framed only once. All frames of an event loop turn go to a socket in one write.
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
import { announce } from './announce.mjs'

const EVENTS_PER_TURN = 64
const sockets = new Set()

const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const { events } = JSON.parse(text)
  for (let from = 0; from < events; from += EVENTS_PER_TURN) {
    const frames = Array.from({ length: Math.min(EVENTS_PER_TURN, events - from) }, (_, index) => frame(from + index))
    const bytes = Buffer.concat(frames)
    for (const socket of sockets) rawOf(socket).write(bytes)
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end('{}')
})

function frame(index) {
  const at = new Date().toISOString()
  const payload = { delta: `word ${index}` }
  const head = { v: '1', kind: 'event', eventId: `epoch.${index}`, subject: 'session:bench/events', type: 'text.delta' }
  const body = Buffer.from(JSON.stringify({ ...head, payload, at, runId: 'run_00000000000000000000000000' }))
  const prefix =
    body.length < 126 ? Buffer.from([0x81, body.length]) : Buffer.from([0x81, 126, body.length >> 8, body.length & 255])
  return Buffer.concat([prefix, body])
}

const rawOf = (socket) => socket._socket

const webSockets = new WebSocketServer({ server, perMessageDeflate: false })
webSockets.on('connection', (socket) => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
})
server.listen(0, '127.0.0.1', () => announce(server))
