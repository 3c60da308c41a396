// Opens many WebSockets and prints `ready`. For each line on stdin, waits until every socket has received `events` more
// events, then prints the elapsed time and the latency of the events.
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import type { SocketPlan } from './sockets.ts'

const { url, sockets, subjects = [], protocols, isStalled = false } = JSON.parse(process.argv[2] ?? '') as SocketPlan
let received = 0
let wanted = Number.POSITIVE_INFINITY
let onAll = () => {}

const NEEDLE = Buffer.from('"kind":"event"')
const AT = Buffer.from('"at":"')
const ISO_LENGTH = 24

/** Number of events by latency in milliseconds. */
let latencies = new Map<number, number>()

function record(data: Buffer): void {
  const start = data.indexOf(AT) + AT.length
  const ms = Date.now() - Date.parse(data.toString('latin1', start, start + ISO_LENGTH))
  latencies.set(ms, (latencies.get(ms) ?? 0) + 1)
  if (++received === wanted) onAll()
}

function p99(): number {
  const total = [...latencies.values()].reduce((sum, count) => sum + count, 0)
  let beyond = total / 100
  for (const [ms, count] of [...latencies].sort(([a], [b]) => b - a)) {
    beyond -= count
    if (beyond < 0) return ms
  }
  return Number.NaN
}

const open = () =>
  new Promise<WebSocket>((resolve, reject) => {
    const socket = new WebSocket(url, [...protocols], { perMessageDeflate: false })
    socket.on('error', reject)
    socket.on('close', (code) => code !== 1_000 && !isStalled && reject(new Error(`closed ${code}`)))
    socket.on('message', (data: Buffer) => {
      if (data.includes(NEEDLE)) record(data)
      else if (data.includes(`"id":${subjects.length}`)) {
        if (isStalled) socket.pause()
        resolve(socket)
      }
    })
    socket.on('open', () => {
      if (subjects.length === 0) return resolve(socket)
      const call = (id: number, method: string, params: object) =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      call(0, 'initialize', {})
      for (const [index, subject] of subjects.entries()) call(index + 1, 'subscription.subscribe', { subject })
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
  latencies = new Map()
  await new Promise<void>((resolve) => {
    onAll = resolve
    console.log('counting')
  })
  console.log(JSON.stringify({ ms: performance.now() - startedAt, p99Ms: p99() }))
}
for (const socket of opened) socket.terminate()
