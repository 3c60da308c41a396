// One process with many WebSockets. Says `ready`, then at each line on stdin counts events until every socket has `events`
// more, and prints how long that took.
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import type { SocketPlan } from './sockets.ts'

const { url, sockets, subject, protocols } = JSON.parse(process.argv[2] ?? '') as SocketPlan
let received = 0
let wanted = Number.POSITIVE_INFINITY
let onAll = () => {}

const NEEDLE = Buffer.from('"kind":"event"')

const open = () =>
  new Promise<WebSocket>((resolve, reject) => {
    const socket = new WebSocket(url, [...protocols], { perMessageDeflate: false })
    socket.on('error', reject)
    socket.on('close', (code) => code !== 1_000 && reject(new Error(`closed ${code}`)))
    socket.on('message', (data: Buffer) => {
      if (data.includes(NEEDLE)) {
        if (++received === wanted) onAll()
      } else if (data.includes('"id":2')) resolve(socket)
    })
    socket.on('open', () => {
      if (subject === undefined) return resolve(socket)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }))
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'subscription.subscribe', params: { subject } }))
    })
  })

const opened: WebSocket[] = []
for (let from = 0; from < sockets; from += 50) {
  opened.push(...(await Promise.all(Array.from({ length: Math.min(50, sockets - from) }, open))))
}
console.log('ready')

for await (const line of createInterface({ input: process.stdin })) {
  const { events } = JSON.parse(line) as { events: number }
  const startedAt = performance.now()
  wanted = received + events * sockets
  await new Promise<void>((resolve) => {
    onAll = resolve
    console.log('counting')
  })
  console.log(JSON.stringify({ ms: performance.now() - startedAt }))
}
for (const socket of opened) socket.terminate()
