// Keeps `connections` sockets busy over HTTP/1.1 and prints the result as one line of JSON.
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { Load, LoadResult } from './load.ts'

const load = JSON.parse(process.argv[2] ?? '') as Load
const latencies: number[] = []
const statuses: Record<string, number> = {}
let sent = load.firstKey
let isCounting = false
let isOver = false

const head = [
  `${load.method} ${load.path} HTTP/1.1`,
  `Host: 127.0.0.1:${load.port}`,
  ...Object.entries(load.headers).map(([name, value]) => `${name}: ${value}`),
].join('\r\n')

function nextRequest(): string {
  const number = load.repeatKey ? sent++ % load.keys : sent++
  const name = load.randomKeys ? randomUUID() : `${load.keyPrefix}-${number}`
  const key = load.keyed ? `\r\nIdempotency-Key: ${name}` : ''
  return `${head}${key}\r\nContent-Length: ${Buffer.byteLength(load.body)}\r\n\r\n${load.body}`
}

function drive(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    let startedAt = 0
    const send = () => {
      startedAt = performance.now()
      socket.write(nextRequest())
    }
    socket.on('error', reject)
    socket.on('close', () => (isOver ? resolve() : reject(new Error('the server closed a connection'))))
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const length = lengthOf(received)
      if (length === undefined || received.length < length) return
      const status = received.toString('latin1', 9, 12)
      received = received.subarray(length)
      if (isCounting) {
        statuses[status] = (statuses[status] ?? 0) + 1
        latencies.push(performance.now() - startedAt)
      }
      if (isOver) socket.destroy()
      else send()
    })
    send()
  })
}

const LAST_CHUNK = '\r\n0\r\n\r\n'

/** Length of the first answer in bytes, once it is known. */
function lengthOf(received: Buffer): number | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const match = /\r\ncontent-length: (\d+)/i.exec(received.toString('latin1', 0, end))
  if (match !== null) return end + 4 + Number(match[1])
  const last = received.indexOf(LAST_CHUNK, end)
  return last === -1 ? undefined : last + LAST_CHUNK.length
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const sockets = await Promise.all(
  Array.from(
    { length: load.connections },
    () =>
      new Promise<Socket>((resolve, reject) => {
        const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
        socket.on('error', reject)
      }),
  ),
)
const driven = Promise.all(sockets.map(drive))
await Promise.race([pause(load.warmUpMs), driven])
isCounting = true
const from = performance.now()
await Promise.race([pause(load.durationMs), driven])
isCounting = false
const seconds = (performance.now() - from) / 1_000
isOver = true
await driven

latencies.sort((a, b) => a - b)
const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
const result: LoadResult = {
  perSecond: latencies.length / seconds,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  statuses,
  nextKey: sent,
}
console.log(JSON.stringify(result))
