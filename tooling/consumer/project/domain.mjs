// Uses only the domain and its in-memory storage: no server, no Node adapter of Perdure, no files.
import {
  createAgentRegistry,
  createEngine,
  createEventHub,
  createPhase,
  createRenderEnvelope,
  createWorkflowRegistry,
  publishing,
} from '@perdure/core'
import { createInMemoryMeter, createInMemoryStorage } from '@perdure/in-memory'

let made = 0
const ids = {
  newId: (kind) => `${kind}-${++made}`,
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
}
const clock = { now: () => Date.now(), monotonicMs: () => performance.now() }
const timers = {
  after(delayMs, fn) {
    const timer = setTimeout(fn, delayMs)
    return () => clearTimeout(timer)
  },
}
const ignore = () => undefined
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const agents = createAgentRegistry()
agents.register({
  id: 'count',
  description: 'Counts the letters of its input.',
  agent: {
    id: 'count',
    async *run(text) {
      yield { type: 'count.begun', payload: { text } }
      return text.length
    },
  },
})

const storage = createInMemoryStorage()
const meter = createInMemoryMeter()
const phase = createPhase()
const engine = createEngine({
  ...storage,
  unitOfWork: publishing(storage.unitOfWork, { hub: createEventHub() }),
  ...{ agents, workflows: createWorkflowRegistry(), phase, clock, timers, ids, logger, meter, basePath: '/v1' },
  render: createRenderEnvelope({ meter, policy: 'redact' }),
  services: () => ({}),
  limits: {
    ...{ concurrency: 4, maxQueued: 10, abortGraceMs: 1_000 },
    ...{ maxResultBytes: 1_000_000, maxEventBytes: 100_000, idempotencyTtlMs: 86_400_000 },
  },
})
phase.enter('ready')
await engine.start()

const { json, runId } = await engine.startRun({
  target: { kind: 'agent', id: 'count' },
  body: { input: 'twelve chars' },
  principal: { subject: 'consumer', scopes: ['agents:invoke'] },
  answer: 'outcome',
})
const events = await storage.events.read({ runId }, { after: 0, limit: 10 })
console.log(JSON.stringify({ outcome: JSON.parse(json), events: events.map(({ type }) => type) }))

await engine.drain(1_000)
await storage.close()
