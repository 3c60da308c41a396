// Stores queued runs with 1,000 keys, starts a server on them, and prints how many runs it starts per second. Each run
// that starts is replaced by a new one, so the queue keeps its length.
import { join } from 'node:path'
import { createServer } from '@perdure/server-app'
import { openSqliteStorage } from '@perdure/sqlite'
import config from './perdure.config.mjs'

const KEYS = 1_000
const BATCH = 1_000
const [folder, queued, warmUpMs, durationMs] = [process.argv[2], ...process.argv.slice(3).map(Number)]
const path = join(folder, `queue-${process.pid}.db`)
const keyOf = (number) => `key-${number % KEYS}`

const storage = await openSqliteStorage({ path })
const from = Date.now() - queued
for (let first = 0; first < queued; first += BATCH) {
  const runs = Array.from({ length: Math.min(BATCH, queued - first) }, (_, index) => queuedRun(first + index))
  const outcome = await storage.unitOfWork.commit(runs.map((run) => ({ type: 'run.insert', run })))
  if (!outcome.committed) throw new Error('the queued runs could not be stored')
}
await storage.close()

function queuedRun(number) {
  const id = String(number).padStart(26, '0')
  return {
    ...{ id: `run_${id}`, threadId: `thr_${id}`, kind: 'workflow', targetId: 'work', owner: 'anonymous' },
    ...{ status: 'queued', attempt: 1, depth: 0, metadata: {}, createdAt: from + number },
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, toolCalls: 0 },
    input: JSON.stringify({ number }),
    flow: { concurrency: keyOf(number) },
  }
}

let started = 0
let added = queued
const work = {
  id: 'work',
  description: 'Ends at once.',
  concurrency: { limit: 1, key: ({ number }) => keyOf(number) },
  onBusy: 'queue',
  workflow: {
    id: 'work',
    async execute() {
      started++
      void add(added++)
    },
  },
}

async function add(number) {
  const body = JSON.stringify({ input: { number } })
  const headers = { 'content-type': 'application/json' }
  const request = new Request('http://localhost/v1/workflows/work/execute', { method: 'POST', body, headers })
  const response = await server.fetch(request)
  if (response.status !== 202) throw new Error(`answered ${response.status}`)
}

const { agents: _agents, ...rest } = config
const server = await createServer({
  config: { ...rest, storage: { path }, runs: { ...rest.runs, maxQueued: 1_000_000 } },
  workflows: [work],
})
await server.start({ listen: false })
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
await wait(warmUpMs)
const before = started
const at = performance.now()
await wait(durationMs)
console.log(JSON.stringify({ startsPerSecond: ((started - before) * 1_000) / (performance.now() - at) }))
process.exit()
