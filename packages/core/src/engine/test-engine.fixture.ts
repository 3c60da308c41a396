import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { createInMemoryBlobStore, createInMemoryStorage } from '@perdure/in-memory'
import { nodeDigest } from '@perdure/platform-node'
import {
  type BlobStore,
  type CheckJson,
  type Cluster,
  type Digest,
  type Duty,
  EVERY_ROW,
  fromJsonText,
  type JsonText,
  type Logger,
  type Meter,
  noMeter,
  type Storage,
  type Tracer,
} from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { publishing } from '../commit/create-commit.ts'
import type { ServiceCaller } from '../durable/service-caller.ts'
import type { Pricing } from '../durable/usage/model-pricing.ts'
import { createEngine as createRunEngine, type Engine } from '../engine.ts'
import { createFiles } from '../files/files.ts'
import type { FileLimits } from '../files/receive-file.ts'
import { createRecall } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'
import { createPhase } from '../lifecycle/phase.ts'
import { createRenderEnvelope } from '../realtime/envelope.ts'
import { createEventHub } from '../realtime/event-hub.ts'
import { createLogFollower } from '../realtime/log-follower.ts'
import type { AgentRegistration, RunCode } from '../targets/agent.ts'
import { createAgentRegistry } from '../targets/agent-registry.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import type { RunServices } from '../targets/run-services.ts'
import type { WorkflowRegistration } from '../targets/workflow.ts'
import { createWorkflowRegistry } from '../targets/workflow-registry.ts'
import type { FireEventTriggers } from '../triggers/fire-event-triggers.ts'
import type { StartRunRequest } from './start-request.ts'

export interface EngineOptions {
  readonly agents?: readonly AgentRegistration[]
  readonly workflows?: readonly WorkflowRegistration[]
  readonly storage?: Storage
  readonly meter?: Meter
  readonly logger?: Logger
  readonly tracer?: Tracer
  /** The services on the run context. */
  readonly services?: (caller: ServiceCaller) => object
  readonly fireEventTriggers?: FireEventTriggers
  readonly concurrency?: number
  readonly maxQueued?: number
  readonly maxShare?: number
  readonly createSessionOnInvoke?: boolean
  readonly clock?: ReturnType<typeof createManualClock>
  readonly ids?: ReturnType<typeof createSequenceIds>
  readonly isStorageShared?: boolean
  readonly executor?: string
  readonly isMine?: (duty: Duty) => boolean
  readonly cluster?: Cluster
  readonly onDivergence?: 'park' | 'fail'
  readonly captureLogs?: boolean
  readonly pricing?: Pricing
  readonly checkJson?: CheckJson
  readonly recordContent?: boolean
  readonly maxResultBytes?: number
  readonly maxEventBytes?: number
  /** Lets results be stored as files. */
  readonly fileLimits?: FileLimits
  readonly blobs?: BlobStore
}

const ignore = () => undefined
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export const testDigest = {
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
} as Digest

export const ALICE = { subject: 'alice', scopes: ['agents:invoke', 'workflows:execute', 'sessions:write:own'] }

const LIMITS = { maxResultBytes: 1_000, maxEventBytes: 200, abortGraceMs: 5_000, idempotencyTtlMs: 86_400_000 }

/** The whole run engine on in-memory storage, with a clock that only `advance` moves. */
export function createTestEngine(options: EngineOptions) {
  const storage = options.storage ?? createInMemoryStorage()
  const clock = options.clock ?? createManualClock()
  const ids = options.ids ?? createSequenceIds()
  const agents = createAgentRegistry()
  const workflows = createWorkflowRegistry()
  for (const registration of options.agents ?? []) agents.register(registration)
  for (const registration of options.workflows ?? []) workflows.register(registration)
  const phase = createPhase()
  phase.enter('ready')
  const hub = createEventHub()
  const { concurrency = 64, maxQueued = 100, meter = noMeter, logger = silentLogger } = options
  const { maxResultBytes = LIMITS.maxResultBytes, maxEventBytes = LIMITS.maxEventBytes } = options
  const recall = createRecall({
    ...{ idempotency: storage.idempotency, clock },
    settleKeys: (runId) => engine.settleKeys(runId),
  })
  const { blobs = createInMemoryBlobStore({ clock, digest: nodeDigest }) } = options
  const files = createFiles({
    remoteFiles: { load: async () => ({ error: 'not loaded' }) },
    ...{
      ...storage,
      blobs,
      clock,
      timers: clock,
      ids,
      logger,
      recall,
      render: createRenderEnvelope({ meter, policy: 'redact' }),
    },
    ...{ digest: nodeDigest, basePath: '/v1', idempotencyTtlMs: LIMITS.idempotencyTtlMs },
    limits: options.fileLimits ?? { maxBytes: 0, maxBytesPerOwner: 0 },
  })
  const engine: Engine = createRunEngine({
    ...storage,
    resultFiles: options.fileLimits === undefined ? undefined : files.resultFiles,
    recall,
    tracer: options.tracer,
    isStorageShared: options.isStorageShared,
    executor: options.executor ?? options.cluster?.executor,
    isMine: options.isMine ?? options.cluster?.isMine,
    cluster: options.cluster,
    onDivergence: options.onDivergence,
    captureLogs: options.captureLogs,
    pricing: options.pricing,
    checkJson: options.checkJson,
    recordContent: options.recordContent,
    createSessionOnInvoke: options.createSessionOnInvoke,
    yieldTurn: () => setImmediate(),
    ...{ clock, timers: clock, ids, meter, agents, workflows, phase, logger, basePath: '/v1' },
    digest: testDigest,
    services: (caller) => (options.services?.(caller) ?? {}) as RunServices,
    render: createRenderEnvelope({ meter, policy: 'redact' }),
    unitOfWork: publishing(storage.unitOfWork, { hub, hasTail: storage.tail !== undefined }),
    limits: { ...LIMITS, concurrency, maxQueued, maxResultBytes, maxEventBytes, maxShare: options.maxShare },
    fireEventTriggers: options.fireEventTriggers,
  })
  const { foreignChanges } = engine
  const follower = createLogFollower({
    ...{ hub, answers: { clear: ignore }, isWaiting: foreignChanges.isWaiting, onSkip: foreignChanges.checkAll },
    onForeignEvent: foreignChanges.onEvent,
    onSignal: (signal) => ('at' in signal ? engine.onForeignTimer(signal) : foreignChanges.checkAll()),
  })
  storage.tail?.follow(follower)

  return {
    ...engine,
    ...{ storage, clock, ids, phase, hub, blobs, files },
    recall,
    run: (agentId: string, over: Partial<StartRunRequest> = {}) =>
      engine.startRun({
        target: { kind: 'agent', id: agentId },
        body: {},
        principal: ALICE,
        answer: 'outcome',
        ...over,
      }),
    execute: (workflowId: string, over: Partial<StartRunRequest> = {}) =>
      engine.startRun({
        target: { kind: 'workflow', id: workflowId },
        body: {},
        principal: ALICE,
        answer: 'accepted',
        ...over,
      }),
    find: (runId: string) => storage.runs.find(runId, EVERY_ROW),
    eventsOf: (runId: string) => storage.events.read({ runId }, { after: 0, limit: 1_000 }),
    /**
     * Advances the clock, fires the timers that become due, and waits until all resulting work is done. `advance(0)`
     * runs pending work and timers without a delay.
     */
    async advance(ms: number) {
      clock.advance(ms)
      await untilIdle(clock)
    },
  }
}

type Over = Partial<RegistrationOptions>

/** Registers a function as an agent. */
export const agentOf = (id: string, run: RunCode, over: Over = {}): AgentRegistration => ({
  id,
  description: `The ${id} agent.`,
  agent: { id, run },
  ...over,
})

/** Registers a function as a workflow. */
export const workflowOf = (id: string, execute: RunCode, over: Over = {}): WorkflowRegistration => ({
  id,
  description: `The ${id} workflow.`,
  workflow: { id, execute },
  ...over,
})

export interface Outcome {
  readonly runId: string
  readonly status: string
  readonly finishReason: string | null
  readonly result?: unknown
  readonly error?: { readonly code: string; readonly message: string }
  readonly sessionId: string | null
  readonly threadId?: string
  readonly position?: number
  readonly approvals?: readonly { readonly id: string; readonly name: string }[]
  readonly waitingFor?: readonly { readonly kind: string; readonly name?: string }[]
}

export const outcomeOf = (reply: Reply): Outcome => fromJsonText(reply.json as JsonText) as Outcome

/** A promise that the test settles. */
export const gate = <T = void>() => Promise.withResolvers<T>()

/** Runs all pending promise callbacks; with a clock, also the due timers and the work they start. */
export async function untilIdle(clock?: { advance(ms: number): void }): Promise<void> {
  for (let turn = 0; turn < (clock === undefined ? 1 : 12); turn++) {
    clock?.advance(0)
    await setImmediate()
  }
}
