// Starts runs over HTTP/1.1, reads their SSE streams from raw sockets, and prints the result as one line of JSON.
import { connect } from 'node:net'
import { microsNow, TIME_MARK } from '../paced-deltas.ts'
import type { Streamed, StreamPlan } from './streams.ts'

const plan = JSON.parse(process.argv[2] ?? '') as StreamPlan
const MOST_DIGITS = 16
const LINE_FEED = 10
const MARK = TIME_MARK.charCodeAt(0)
const SPACE = 32
/** How long the streams that are still open may take to end. */
const GRACE_MS = 1_000
const BUCKETS_PER_MS = 10

/** Number of words by delivery time. The last bucket also counts every longer time. */
const buckets = new Uint32Array(10_000 * BUCKETS_PER_MS)
const statuses: Record<string, number> = {}
/** All sockets share it, because each chunk is parsed before the next is read. */
const buffer = Buffer.allocUnsafe(65_536)
let words = 0

const request = [
  `POST ${plan.path} HTTP/1.1`,
  `Host: 127.0.0.1:${plan.port}`,
  'Accept: text/event-stream',
  'Connection: close',
  ...Object.entries(plan.headers).map(([name, value]) => `${name}: ${value}`),
  `Content-Length: ${Buffer.byteLength(plan.body)}`,
  '',
  plan.body,
].join('\r\n')

const NOTHING = Buffer.alloc(0)

/** Records the words in the bytes. Returns the end of the bytes if it may contain the start of a word's time. */
function record(bytes: Buffer): Buffer {
  const now = microsNow()
  let from = 0
  for (let found = bytes.indexOf(MARK); found !== -1; found = bytes.indexOf(MARK, from)) {
    const start = found + 1
    const end = bytes.indexOf(SPACE, start)
    if (end === -1) break
    from = end
    const ms = (now - Number(bytes.toString('latin1', start, end))) / 1_000
    const bucket = Math.min(buckets.length - 1, Math.max(0, Math.round(ms * BUCKETS_PER_MS)))
    buckets[bucket] = (buckets[bucket] ?? 0) + 1
    words++
  }
  if (bytes[bytes.length - 1] === LINE_FEED) return NOTHING
  return Buffer.from(bytes.subarray(Math.max(from, bytes.length - 1 - MOST_DIGITS)))
}

const read = () =>
  new Promise<void>((resolve, reject) => {
    const endsAt = performance.now() + plan.countForMs
    let rest: Buffer = NOTHING
    let isAnswered = false
    const onBytes = (length: number) => {
      const chunk = buffer.subarray(0, length)
      if (!isAnswered) {
        const status = chunk.toString('latin1', 9, 12)
        statuses[status] = (statuses[status] ?? 0) + 1
        isAnswered = true
      }
      if (performance.now() <= endsAt) rest = record(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))
      return true
    }
    const address = { port: plan.port, host: '127.0.0.1', noDelay: true }
    const socket = connect({ ...address, onread: { buffer, callback: onBytes } }, () => socket.write(request))
    const timer = setTimeout(() => socket.destroy(), plan.countForMs + GRACE_MS)
    socket.on('error', reject)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function p99(): number {
  let beyond = words / 100
  for (let bucket = buckets.length - 1; bucket >= 0; bucket--) {
    beyond -= buckets[bucket] ?? 0
    if (beyond < 0) return bucket / BUCKETS_PER_MS
  }
  return buckets.length / BUCKETS_PER_MS
}

const startedAt = performance.now()
const cpuBefore = process.cpuUsage()
const delayOf = (index: number) => (index * plan.startOverMs) / plan.streams
await Promise.all(Array.from({ length: plan.streams }, (_, index) => pause(delayOf(index)).then(read)))
const { user, system } = process.cpuUsage(cpuBefore)
const readerCpu = (user + system) / 1_000 / (performance.now() - startedAt)
const result: Streamed = { words, p99Ms: p99(), statuses, readerCpu }
console.log(JSON.stringify(result))
