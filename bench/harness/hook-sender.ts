// Sends signed deliveries to a hook on a fixed schedule, whether or not earlier ones are answered, as many independent
// senders do. Prints the result as one line of JSON.
import { createHmac } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { Deliveries, DeliveriesResult } from './hook-deliveries.ts'

const { port, path, secret, perSecond, durationMs, warmUpMs, bodyBytes } = JSON.parse(
  process.argv[2] ?? '',
) as Deliveries

const agent = new Agent({ keepAlive: true })
const padding = 'x'.repeat(bodyBytes)
const latencies: number[] = []
const statuses: Record<string, number> = {}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function send(number: number): Promise<number> {
  const body = JSON.stringify({ number, padding })
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-GitHub-Delivery': `delivery-${number}`,
    'X-GitHub-Event': 'push',
    'X-Hub-Signature-256': `sha256=${signature}`,
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (response) => {
      response.on('end', () => resolve(response.statusCode ?? 0)).resume()
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const startedAt = performance.now()
const total = Math.round((perSecond * (warmUpMs + durationMs)) / 1_000)
const sending: Promise<void>[] = []
let latestMs = 0
for (let number = 0; number < total; number++) {
  const dueAt = startedAt + (number * 1_000) / perSecond
  const waitMs = dueAt - performance.now()
  if (waitMs > 0) await pause(waitMs)
  const isCounted = dueAt - startedAt >= warmUpMs
  if (isCounted) latestMs = Math.max(latestMs, performance.now() - dueAt)
  // From the time at which the delivery was due: a delay of the sender counts, so that none is left out.
  sending.push(
    send(number).then((status) => {
      statuses[status] = (statuses[status] ?? 0) + 1
      if (isCounted) latencies.push(performance.now() - dueAt)
    }),
  )
}
await Promise.all(sending)
agent.destroy()

latencies.sort((a, b) => a - b)
const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
const result: DeliveriesResult = {
  ...{ sent: total, statuses, latestMs },
  ...{ p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), maxMs: at(1) },
}
console.log(JSON.stringify(result))
