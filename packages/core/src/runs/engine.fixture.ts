import { createHash } from 'node:crypto'
import { createInMemoryStorage } from '@berth/in-memory'
import { type Digest, EVERY_ROW, fromJsonText, type JsonText, type Logger, type Storage } from '@berth/ports'
import { createManualClock, createSequenceIds } from '@berth/testkit'
import type { AgentRegistration } from '../agents/agent.ts'
import { createAgentRegistry } from '../agents/registry.ts'
import { createRecall } from '../idempotency/recall.ts'
import { createPhase } from '../lifecycle/phase.ts'
import { createEventHub, withPublication } from '../realtime/event-hub.ts'
import type { Reply } from '../reply.ts'
import { createAbortAgent } from './abort-agent.ts'
import { createAbortRun } from './abort-run.ts'
import { createAdmission } from './admission.ts'
import { createReadRuns } from './read-runs.ts'
import { createRunner } from './runner.ts'
import { createSettlements } from './settlements.ts'
import { createStartRun, type StartRunRequest } from './start-run.ts'

export interface EngineOptions {
  readonly agents: readonly AgentRegistration[]
  readonly storage?: Storage
  readonly concurrency?: number
  readonly maxQueued?: number
  readonly clock?: ReturnType<typeof createManualClock>
  readonly ids?: ReturnType<typeof createSequenceIds>
}

const ignore = () => undefined
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export const testDigest = {
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
} as Digest

export const ALICE = { subject: 'alice', scopes: ['agents:invoke'] }

/** The whole run engine on in-memory storage and a clock that stands still. */
export function createEngine(options: EngineOptions) {
  const storage = options.storage ?? createInMemoryStorage()
  const clock = options.clock ?? createManualClock()
  const ids = options.ids ?? createSequenceIds()
  const agents = createAgentRegistry()
  for (const registration of options.agents) agents.register(registration)
  const phase = createPhase()
  phase.enter('ready')
  const hub = createEventHub()
  const settlements = createSettlements()
  const admission = createAdmission({ concurrency: options.concurrency ?? 64, maxQueued: options.maxQueued ?? 100 })
  const shared = {
    ...{ clock, timers: clock, ids, agents, phase, settlements, logger: silentLogger, basePath: '/v1' },
    unitOfWork: withPublication(storage.unitOfWork, hub),
    runs: storage.runs,
    idempotencyTtlMs: 86_400_000,
    maxResultBytes: 1_000,
    maxEventBytes: 200,
    abortGraceMs: 5_000,
  }
  const runner = createRunner({ ...shared, admission })
  const abortRun = createAbortRun({ ...shared, runner })
  const startRun = createStartRun({ ...shared, sessions: storage.sessions, runner, abortRun })
  const readRuns = createReadRuns({ ...storage, basePath: '/v1' })

  return {
    ...{ storage, clock, ids, phase, hub, runner, admission, startRun, abortRun, readRuns },
    deps: { ...shared, runner },
    abortAgent: createAbortAgent({ ...shared, abortRun }),
    recall: createRecall({ idempotency: storage.idempotency, clock }),
    run: (agentId: string, over: Partial<StartRunRequest> = {}) =>
      startRun({ agentId, body: {}, principal: ALICE, answer: 'outcome', ...over }),
    find: (runId: string) => storage.runs.find(runId, EVERY_ROW),
    eventsOf: (runId: string) => storage.events.read({ runId }, { after: 0, limit: 1_000 }),
  }
}

/** An agent from a bare function. */
export const agentOf = (
  id: string,
  run: AgentRegistration['agent']['run'],
  over: Partial<AgentRegistration> = {},
): AgentRegistration => ({ id, description: `The ${id} agent.`, agent: { id, run }, ...over })

export interface Outcome {
  readonly runId: string
  readonly status: string
  readonly finishReason: string | null
  readonly result?: unknown
  readonly error?: { readonly code?: string; readonly kind?: string; readonly message: string }
  readonly sessionId: string | null
  readonly position?: number
}

export const outcomeOf = (reply: Reply): Outcome => fromJsonText(reply.json as JsonText) as Outcome

/** A promise that a test settles by hand. */
export const gate = <T = void>() => Promise.withResolvers<T>()

/** Lets every promise that is ready run. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
