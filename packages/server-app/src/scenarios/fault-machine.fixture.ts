// The server loads it with the first request that needs it; that would take longer than the turns of the test.
import '@perdure/interop'
import { createAgentRegistry, createPhase, createWorkflowRegistry, type RunCode, type RunContext } from '@perdure/core'
import { createInMemoryBlobStore, createInMemorySkillStore, createInMemoryTicketStore } from '@perdure/in-memory'
import {
  createCronSchedule,
  createHookVerifiers,
  createJwtVerifier,
  createPrometheusMeter,
  nodeDigest,
  noWatchdog,
} from '@perdure/platform-node'
import { type IdGenerator, type Logger, NO_AUDIT_KEY, noTracer, type Storage, soleNode } from '@perdure/ports'
import { createRandomFaults, type Fault, type ManualClock, type RandomFaults, withFaults } from '@perdure/testkit'
import { createAttribution } from '../compose/attribution.ts'
import { compose } from '../compose/compose.ts'
import { parseConfig } from '../config.ts'
import { createPlatform } from '../start/adapters.ts'

const PEPPER_REF = 'env:FAULTS_PEPPER'
const PEPPER = 'p'.repeat(32)
process.env.FAULTS_PEPPER = PEPPER

export const FAULTY_CONFIG = parseConfig({
  server: { rateLimit: { perIpRequests: 1_000_000 } },
  auth: { pepperRef: PEPPER_REF },
})

export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** What survives a crash of the process. */
export interface Surroundings {
  readonly storage: Storage
  readonly clock: ManualClock
  readonly ids: IdGenerator
  /** One entry each time that the code of a run takes effect: the idempotency key and, in a workflow, the step. */
  readonly effects: string[]
  readonly errors: string[]
}

export interface FaultOptions {
  readonly seed: number
  readonly share: number
  readonly faults: readonly Fault[]
}

export interface Machine {
  readonly faults: RandomFaults
  /** Whether the process has crashed because the outcome of a commit is unknown. */
  isDead(): boolean
  /** Crashes the process: it writes nothing more, and its answers are lost. */
  end(): void
  /** Resolves once the storage has settled every commit that it received from the process. */
  released(): Promise<void>
  fetch(request: Request): Promise<Response>
  start(): Promise<void>
}

/** One process on a storage that injects faults. Crashes when the outcome of a commit is unknown. */
export function createMachine(around: Surroundings, options: FaultOptions): Machine {
  const { storage, clock, ids, errors } = around
  const life = { isOver: false }
  const never = () => new Promise<never>(() => {})
  const faults = createRandomFaults({
    ...options,
    onFatal: () => {
      life.isOver = true
    },
  })
  const sent = new Set<Promise<unknown>>()
  // A crashed process writes nothing, not even what a fault delays, and its pending commits never resolve.
  const untilCrash = ({ commit }: Storage['unitOfWork']): Storage['unitOfWork'] => ({
    commit: (writes) => (life.isOver ? never() : commit(writes).finally(() => life.isOver && never())),
  })
  const commit: Storage['unitOfWork']['commit'] = (writes) => {
    const outcome = storage.unitOfWork.commit(writes)
    sent.add(outcome)
    return outcome.finally(() => sent.delete(outcome))
  }
  const faulty = withFaults({ ...storage, unitOfWork: untilCrash({ commit }) }, faults)
  const unitOfWork = untilCrash(faulty.unitOfWork)
  const note = (message: string, cause?: unknown) => void errors.push(`${message}: ${String(cause)}`)
  const ignore = () => undefined
  const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: note }
  const phase = createPhase()
  const noSkills = createInMemorySkillStore({})

  const composition = compose({
    embedder: undefined,
    consolidator: {},
    config: FAULTY_CONFIG,
    adapters: {
      ...{ storage: { ...faulty, unitOfWork }, clock, timers: clock, ids, digest: nodeDigest, logger },
      ...{ meter: createPrometheusMeter(), tracer: noTracer, cronSchedule: createCronSchedule(), secretResolvers: [] },
      ...{
        remoteFiles: { load: async () => ({ error: 'not loaded' }) },
        webhookSender: { refusalOf: () => undefined, send: async () => ({ error: 'not sent' }) },
        blobs: createInMemoryBlobStore({ clock, digest: nodeDigest }),
        skills: noSkills,
        mcp: createPlatform(FAULTY_CONFIG, '.', {}).mcp,
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
    ...{ agents: agentsOf(around), workflows: workflowsOf(around), attribution: createAttribution(), phase },
    ...{ registeredSkills: noSkills, mcpServers: [] },
  })

  return {
    faults,
    isDead: () => life.isOver,
    end() {
      life.isOver = true
    },
    async released() {
      await Promise.allSettled(sent)
    },
    fetch: (request) => composition.app.fetch(request),
    async start() {
      await composition.audit.start()
      await composition.engine.recover()
      await composition.triggers.declare([])
      await composition.engine.start()
      for (const daemon of composition.daemons) daemon.start()
      phase.enter('ready')
    },
  }
}

interface RunInput {
  readonly key?: string
}

function agentsOf({ effects }: Surroundings) {
  const agents = createAgentRegistry()
  const done = (input: unknown) => void effects.push((input as RunInput | null)?.key ?? '')
  const plain = async (input: unknown) => {
    done(input)
    await turn()
    return { done: input }
  }
  const asks = async (input: unknown, { approval }: RunContext) => {
    const { approved } = await approval('publish', { title: 'Publish?' })
    return { approved, input }
  }
  async function* streams(input: unknown) {
    for (const delta of ['a', 'b', 'c']) yield { type: 'text.delta', payload: { delta } }
    done(input)
    return { streamed: input }
  }
  const register = (id: string, run: RunCode, more = {}) =>
    agents.register({ id, description: id, agent: { id, run }, ...more })
  register('plain', plain)
  register('streams', streams)
  register('asks', asks)
  register('single', plain, { concurrency: 'single' })
  register('queued', plain, { concurrency: 'single', onBusy: 'queue' })
  return agents
}

function workflowsOf({ effects }: Surroundings) {
  const workflows = createWorkflowRegistry()
  workflows.register({
    id: 'flow',
    description: 'Runs two steps with waits between them.',
    workflow: {
      id: 'flow',
      async execute(input, { step, sleep, waitForEvent }) {
        const key = (input as RunInput | null)?.key ?? ''
        await step('first', () => void effects.push(`${key} first`))
        await sleep('nap', 500)
        await waitForEvent('paid', { timeout: 2_000 }).catch(() => undefined)
        await step('second', () => void effects.push(`${key} second`))
        return { key }
      },
    },
  })
  return workflows
}
