import { createAgentRegistry, createPhase, createWorkflowRegistry, type RunContext } from '@perdure/core'
import { createInMemoryBlobStore, createInMemorySkillStore, createInMemoryTicketStore } from '@perdure/in-memory'
import {
  createCronSchedule,
  createHookVerifiers,
  createJwtVerifier,
  createPrometheusMeter,
  nodeDigest,
  noWatchdog,
} from '@perdure/platform-node'
import {
  type IdGenerator,
  type Logger,
  NO_AUDIT_KEY,
  noTracer,
  perdureError,
  type Storage,
  soleNode,
  type UnitOfWork,
} from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { createAttribution } from '../compose/attribution.ts'
import { type Composition, compose } from '../compose/compose.ts'
import { parseConfig } from '../config.ts'
import { createPlatform } from '../start/adapters.ts'
import { openTokenAdmin } from '../start/token-admin.ts'

export const TTL_MS = 600_000
const PEPPER_REF = 'env:IDEMPOTENCY_MODEL_PEPPER'
const PEPPER = 'p'.repeat(32)
process.env.IDEMPOTENCY_MODEL_PEPPER = PEPPER

const noSkills = createInMemorySkillStore({})
const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Crashes the process at its nth commit from now, before or after the commit is durable. */
export interface Death {
  readonly atCommit: number
  readonly when: 'before' | 'after'
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly error: unknown
  readonly isReplayed: boolean
  readonly retryAfter: string | null
}

/** A server without a listener on the given storage. Its process can be crashed and restarted. */
export async function createIdempotencyWorld(storage: Storage) {
  const clock = createManualClock()
  const ids = createSequenceIds()
  /** The inputs of the runs that have had their effect on the outside world. */
  const ledger: string[] = []
  let gates: Gate[] = []
  let running = boot({ storage, clock, ids, ledger, hold: (gate) => gates.push(gate) })
  await running.recover()
  const admin = await openTokenAdmin(config(), { adapters: { storage, clock, ids, digest: nodeDigest, logger } })
  const scopes = ['agents:invoke', 'events:emit', 'tokens:create', 'tokens:revoke', 'agents:read']
  const holders: Record<string, { id: string; token: string }> = {}
  for (const subject of ['alice', 'bob']) {
    const { token, record } = await admin.mint({ name: subject, scopes, subject })
    holders[subject] = { token, id: record.id }
  }

  const send = (subject: string, path: string, { key, body }: { key?: string; body: unknown }): Promise<Answer> =>
    running.send(path, body, {
      Authorization: `Bearer ${holders[subject]?.token}`,
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    })

  return {
    ...{ clock, ledger, send },
    /** Releases the runs held for this input. */
    release(input: unknown) {
      const text = JSON.stringify(input)
      for (const { input: held, go } of gates) if (held === text) go()
      gates = gates.filter((gate) => gate.input !== text)
    },
    /** Whether a run is held for this input. */
    holds: (input: unknown) => gates.some((gate) => gate.input === JSON.stringify(input)),
    tokens: async () => (await storage.tokens.list({ limit: 200, order: 'asc' })).items.length,
    async rotate(subject: string) {
      const { status, text } = await send(subject, `/tokens/${holders[subject]?.id}/rotate`, { body: {} })
      if (status !== 201) throw new Error(`token rotation failed: ${status} ${text}`)
      holders[subject] = JSON.parse(text)
    },
    /** Crashes the process with all pending work, and starts another process on the same storage. */
    async crash() {
      running.kill()
      gates = []
      running = boot({ storage, clock, ids, ledger, hold: (gate) => gates.push(gate) })
      await running.recover()
    },
    dieAt: (death: Death | undefined) => running.dieAt(death),
    failNextCommit: () => running.failNextCommit(),
    isAlive: () => running.isAlive(),
  }
}

export type IdempotencyWorld = Awaited<ReturnType<typeof createIdempotencyWorld>>

const config = () =>
  parseConfig({
    server: { rateLimit: { perIpRequests: 1_000_000 }, idempotency: { ttlSeconds: TTL_MS / 1_000 } },
    auth: { pepperRef: PEPPER_REF },
  })

interface Machine {
  readonly storage: Storage
  readonly clock: ReturnType<typeof createManualClock>
  readonly ids: IdGenerator
  readonly ledger: string[]
  readonly hold: (gate: Gate) => void
}

interface Gate {
  readonly input: string
  readonly go: () => void
}

/** Starts one process. After its crash, the process commits nothing more and sends no answers. */
function boot({ storage, clock, ids, ledger, hold }: Machine) {
  const life = { isOver: false, commits: 0, failNext: false, death: undefined as Death | undefined }
  const never = () => new Promise<never>(() => {})

  const unitOfWork: UnitOfWork = {
    async commit(writes) {
      if (life.isOver) return never()
      if (life.failNext && writes.some(({ type }) => type === 'idempotency.reserve')) {
        life.failNext = false
        throw perdureError('SQLITE_BUSY', { retryAfter: 1_000 })
      }
      const isLast = life.death !== undefined && life.commits++ === life.death.atCommit
      if (isLast && life.death?.when === 'before') life.isOver = true
      if (life.isOver) return never()
      const outcome = await storage.unitOfWork.commit(writes)
      if (isLast) life.isOver = true
      return life.isOver ? never() : outcome
    },
  }

  const agents = createAgentRegistry()
  const work = (input: unknown) => void ledger.push(JSON.stringify(input))
  const echo = async (input: unknown, { runId }: RunContext) => {
    if (life.isOver) return never()
    work(input)
    return { runId, input }
  }
  const held = async (input: unknown) => {
    if (life.isOver) return never()
    work(input)
    await new Promise<void>((go) => hold({ input: JSON.stringify(input), go }))
    return { done: input }
  }
  agents.register({ id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: echo } })
  agents.register({ id: 'held', description: 'Ends when it is released.', agent: { id: 'held', run: held } })
  agents.register({
    id: 'single',
    description: 'Executes one run at a time.',
    agent: { id: 'single', run: held },
    concurrency: 'single',
  })
  const phase = createPhase()
  phase.enter('ready')

  const composition: Composition = compose({
    embedder: undefined,
    consolidator: {},
    config: config(),
    adapters: {
      ...{ storage: { ...storage, unitOfWork }, clock, timers: clock, ids, digest: nodeDigest, logger },
      ...{ meter: createPrometheusMeter(), tracer: noTracer, cronSchedule: createCronSchedule(), secretResolvers: [] },
      ...{
        remoteFiles: { load: async () => ({ error: 'not loaded' }) },
        webhookSender: { refusalOf: () => undefined, send: async () => ({ error: 'not sent' }) },
        blobs: createInMemoryBlobStore({ clock, digest: nodeDigest }),
        skills: noSkills,
        mcp: createPlatform(config(), '.', {}).mcp,
        jwtVerifier: createJwtVerifier(),
        hookVerifiers: createHookVerifiers(createJwtVerifier()),
        tickets: createInMemoryTicketStore(),
        cluster: soleNode,
        lockouts: undefined,
        watchdog: noWatchdog,
        droppedLogLines: () => 0,
      },
    },
    secrets: {
      peppers: [new TextEncoder().encode(PEPPER)],
      health: { active: 'env', fallbackChain: [], references: [] },
      ...{ auditKeys: NO_AUDIT_KEY, sealSecrets: [new TextEncoder().encode(PEPPER)], database: undefined },
      ...{
        storageEncryption: undefined,
        auditEncryption: undefined,
        jwtKeys: [],
        bucketSecret: undefined,
        clientSecret: undefined,
      },
    },
    ...{ auditLocation: {}, cipher: undefined },
    vitals: { eventLoopDelaySeconds: () => 0, residentMemoryBytes: () => 0, close: ignore },
    ...{ agents, workflows: createWorkflowRegistry(), attribution: createAttribution(), phase },
    ...{ registeredSkills: noSkills, mcpServers: [] },
  })

  return {
    async recover() {
      await composition.engine.recover()
      await composition.engine.start()
    },
    async send(path: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
      const request = new Request(`http://127.0.0.1:8080/v1${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      const response = await composition.app.fetch(request)
      const text = await response.text()
      return {
        status: response.status,
        text,
        error: text === '' ? undefined : JSON.parse(text).error,
        isReplayed: response.headers.get('idempotency-replayed') === 'true',
        retryAfter: response.headers.get('retry-after'),
      }
    },
    kill() {
      life.isOver = true
    },
    dieAt(death: Death | undefined) {
      life.commits = 0
      life.death = death
    },
    failNextCommit() {
      life.failNext = true
    },
    isAlive: () => !life.isOver,
  }
}
