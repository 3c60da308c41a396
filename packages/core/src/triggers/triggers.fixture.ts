import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { createInMemoryMeter, createInMemoryStorage } from '@perdure/in-memory'
import { createCronSchedule } from '@perdure/platform-node'
import {
  type CronSchedule,
  type Digest,
  type EpochMs,
  EVERY_ROW,
  type FireRecord,
  fromJsonText,
  type Logger,
  type NodeDirectory,
  type Storage,
} from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import type { Principal } from '../auth/principal.ts'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createEngine } from '../engine.ts'
import { createRecall } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'
import { createLateBound } from '../lifecycle/late-bound.ts'
import { createPhase } from '../lifecycle/phase.ts'
import { createRenderEnvelope } from '../realtime/envelope.ts'
import type { AgentRegistration, RunCode } from '../targets/agent.ts'
import { createAgentRegistry } from '../targets/agent-registry.ts'
import type { RunServices } from '../targets/run-services.ts'
import { targetsOf } from '../targets/target-registry.ts'
import { createWorkflowRegistry } from '../targets/workflow-registry.ts'
import type { FireEventTriggers } from './fire-event-triggers.ts'
import type { TriggerDefinition, TriggerRegistration } from './trigger-definition.ts'
import { createTriggers } from './triggers.ts'

type ManualClock = ReturnType<typeof createManualClock>

export const testDigest = {
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
} as Digest

/** The state that survives a restart. */
export interface World {
  readonly storage: Storage
  readonly clock: ManualClock
  readonly ids: ReturnType<typeof createSequenceIds>
}

export interface ServerOptions extends Partial<World> {
  readonly agents?: readonly AgentRegistration[]
  readonly cronSchedule?: CronSchedule
  readonly logger?: Logger
  readonly undeclaredMs?: number
  readonly nodes?: NodeDirectory
  readonly knownHooks?: ReadonlyMap<string, unknown>
  readonly maxQueued?: number
  readonly concurrency?: number
}

const LIMITS = { maxResultBytes: 1_000, maxEventBytes: 200, abortGraceMs: 5_000, idempotencyTtlMs: 86_400_000 }

export const ALICE = { subject: 'alice', scopes: ['agents:invoke', 'workflows:execute', 'sessions:write:own'] }

/** One server process: the run engine and the triggers, on a storage and a clock that may outlive the process. */
export function createTriggerServer(options: ServerOptions = {}) {
  const storage = options.storage ?? createInMemoryStorage()
  const clock = options.clock ?? createManualClock()
  const ids = options.ids ?? createSequenceIds()
  const meter = createInMemoryMeter()
  const { cronSchedule = createCronSchedule(), logger = silentLogger, concurrency = 64, maxQueued = 100 } = options
  const agents = createAgentRegistry()
  const workflows = createWorkflowRegistry()
  const seen: SeenRun[] = []
  const held: (() => void)[] = []
  const registrations = options.agents ?? [
    agent('echo', async (input, { runId, metadata }) => void seen.push({ runId, input, metadata })),
    agent('held', async (input, { runId, metadata }) => {
      seen.push({ runId, input, metadata })
      await new Promise<void>((resolve) => held.push(resolve))
    }),
    agent('fails', () => Promise.reject(Object.assign(new Error('no luck'), { code: 'bad-luck' }))),
    { ...agent('single', () => new Promise<void>((resolve) => held.push(resolve))), concurrency: 'single' },
  ]
  for (const registration of registrations) agents.register(registration)
  const phase = createPhase()
  phase.enter('ready')
  const fireEventTriggers = createLateBound<FireEventTriggers>('fireEventTriggers')
  const engine = createEngine({
    fireEventTriggers: fireEventTriggers.call,
    yieldTurn: () => setImmediate(),
    ...storage,
    ...{ clock, timers: clock, ids, meter, agents, workflows, phase, logger, basePath: '/v1' },
    digest: testDigest,
    recall: createRecall({ idempotency: storage.idempotency, clock }),
    services: () => ({}) as RunServices,
    render: createRenderEnvelope({ meter, policy: 'redact' }),
    limits: { ...LIMITS, concurrency, maxQueued },
  })
  const triggers = createTriggers({
    ...storage,
    ...{ clock, timers: clock, ids, meter, logger, cronSchedule, digest: testDigest, basePath: '/v1' },
    ...{
      hooks: options.knownHooks,
      nodes: options.nodes,
      executor: 'self',
      undeclaredMs: options.undeclaredMs ?? 3_600_000,
    },
    ...{ targets: targetsOf(agents, workflows), startRun: engine.startRun, idempotencyTtlMs: 86_400_000 },
  })
  engine.observeRuns(triggers.observe)
  fireEventTriggers.bind(triggers.fireEventTriggers)

  const server = {
    ...{ engine, triggers, storage, clock, ids, meter, phase, seen, agents, workflows },
    create: (definition: TriggerRegistration, principal: Principal = ALICE) =>
      triggers.createTrigger({ definition: withDefaults(definition), principal }),
    call: (triggerId: string) => ({ triggerId, principal: ALICE }),
    trigger: (id: string) => triggers.readTriggers.get(id),
    /** Oldest first. */
    async fires(id: string): Promise<readonly FireRecord[]> {
      return (await storage.fires.list({ triggerId: id }, { limit: 200, order: 'asc' })).items
    },
    runs: async () => (await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items,
    async events(id: string): Promise<readonly string[]> {
      const events = await storage.events.read({ topic: `trigger:${id}/events` }, { after: 0, limit: 1_000 })
      return events.map(({ type }) => type)
    },
    /** Ends every run of the agents `held` and `single`, whose runs wait for this call. */
    async release() {
      for (const end of held.splice(0)) end()
      await server.untilIdle()
    },
    /** Waits until all work that is due now is done. */
    async untilIdle() {
      for (let turn = 0; turn < 12; turn++) {
        clock.advance(0)
        await setImmediate()
      }
    },
    /** Advances both clocks, stopping whenever a trigger is due. */
    async advance(ms: number) {
      const until = clock.now() + ms
      for (;;) {
        await server.untilIdle()
        const { nextDueAt } = await storage.triggers.overview()
        if (nextDueAt === undefined || nextDueAt >= until || nextDueAt <= clock.now()) break
        clock.advance(nextDueAt - clock.now())
      }
      clock.advance(until - clock.now())
      await server.untilIdle()
    },
    async start() {
      await engine.recover()
      await engine.start()
      triggers.daemon.start()
      await server.untilIdle()
      return server
    },
    /** Stops like a crash: nothing is drained. */
    stop: () => triggers.daemon.stop(),
  }
  return server
}

export interface SeenRun {
  readonly runId: string
  readonly input: unknown
  readonly metadata: Readonly<Record<string, string>>
}

const agent = (id: string, run: RunCode): AgentRegistration => ({
  id,
  description: `The ${id} agent.`,
  agent: { id, run },
})

const DEFAULTS = {
  ...{ enabled: true, catchUp: 'latest', maxCatchUp: 10, catchUpWindowMs: 86_400_000, overlap: 'skip', jitterMs: 0 },
  timezone: 'UTC',
}

const withDefaults = (definition: TriggerRegistration) =>
  ({ ...DEFAULTS, ...definition }) as unknown as TriggerDefinition

export const bodyOf = ({ body, json }: Reply) =>
  (json === undefined ? body : fromJsonText(json)) as Record<string, unknown>

export const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
export const ms = (text: string): EpochMs => Date.parse(text) as EpochMs

export const HOURLY = { id: 'hourly', kind: 'cron', cron: '0 * * * *', target: { agentId: 'echo' } } as const

export const createStartedServer = () => createTriggerServer().start()
export const audited = async ({ audit }: Storage) =>
  (await audit.read({ afterSeq: 0, limit: 100 })).map(({ action, target }) => `${action} ${target}`)
export const key = (id: string) => ({ key: { id, fingerprint: id } })
