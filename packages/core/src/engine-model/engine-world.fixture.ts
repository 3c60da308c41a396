import {
  EVERY_ROW,
  type Logger,
  noMeter,
  type RunRecord,
  type StepRecord,
  type Storage,
  type Timers,
} from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { publishing } from '../commit/create-commit.ts'
import type { RetryOptions } from '../durable/step.ts'
import { agentOf, testDigest, workflowOf } from '../engine/test-engine.fixture.ts'
import { createEngine, type Engine } from '../engine.ts'
import { createRecall } from '../idempotency/recall.ts'
import { createPhase } from '../lifecycle/phase.ts'
import { createRenderEnvelope } from '../realtime/envelope.ts'
import { createEventHub } from '../realtime/event-hub.ts'
import { NonRetryableError } from '../runs/non-retryable-error.ts'
import { createAgentRegistry } from '../targets/agent-registry.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import type { RunContext } from '../targets/run-context.ts'
import type { RunServices } from '../targets/run-services.ts'
import { createWorkflowRegistry } from '../targets/workflow-registry.ts'
import { type Code, codeOf, type Deployment, FIRST_CODE, FIRST_VERSIONS, versionsOf } from './engine-code.fixture.ts'
import { createExecutions, type Executions, noteActions, noteExecution } from './engine-executions.fixture.ts'
import { execute, type Outside, type Program } from './engine-program.fixture.ts'
import { type CommitKind, createWitness, kindOf, type Witness, withWitness } from './engine-witness.fixture.ts'
import { yieldTurn } from './yield-turn.fixture.ts'

type Options = Partial<RegistrationOptions>
const RETRY: RetryOptions = { max: 2, delay: 500, jitter: 'none' }
export const AGENTS = {
  parallel: { onCrash: 'retry', recoveries: 4 },
  fragile: {},
  queueing: { onCrash: 'retry', concurrency: 'single', onBusy: 'queue' },
  refusing: { concurrency: 'single', onBusy: 'reject' },
  latest: { onCrash: 'retry', concurrency: 'single', onBusy: 'interrupt' },
  personal: { onCrash: 'retry', concurrency: 'session', onBusy: 'queue' },
  timed: { onCrash: 'retry', timeout: 1_000 },
  stubborn: { onCrash: 'retry', recoveries: 4, retries: RETRY },
} as const satisfies Record<string, Options>

export const WORKFLOWS = {
  flow: { recoveries: 4 },
  line: { concurrency: 'single', onBusy: 'queue', retries: { ...RETRY, max: 1, delay: 5 } },
  polite: { concurrency: 'session', onBusy: 'reject', onCrash: 'fail' },
} as const satisfies Record<string, Options>

export const OPTIONS: Readonly<Record<string, Options>> = { ...AGENTS, ...WORKFLOWS }
/** Runs of one lane never execute together. */
export const laneOf = ({ targetId, sessionId }: RunRecord): string | undefined => {
  const { concurrency } = OPTIONS[targetId] ?? {}
  if (concurrency === 'single') return targetId
  return concurrency === 'session' && sessionId !== undefined ? `${targetId} ${sessionId}` : undefined
}

export const CONCURRENCY = 3
export const ABORT_GRACE_MS = 5_000
export const CHILDREN = ['parallel', 'fragile', 'queueing', 'stubborn']

/** The input of a run. */
export interface Input {
  readonly program: Program
  readonly path?: string // path of the call in the parent
}

export type CrashPoint = 'before' | 'after'

/** One process on the storage of the world. After `kill` it reads and writes nothing. */
export interface Process {
  readonly engine: Engine
  readonly recall: ReturnType<typeof createRecall>
  enter(phase: 'draining'): void
  isAlive(): boolean
  kill(): void
  /**
   * Crashes at the nth commit from now: before the commit is stored, or after it is stored and before the caller gets
   * the answer.
   */
  crashAt(commit: number, point: CrashPoint): void
}

/** What outlives a process: the clock, the storage, and the effects of steps. */
export interface Environment {
  readonly storage: Storage
  readonly clock: ReturnType<typeof createManualClock>
  readonly ids: ReturnType<typeof createSequenceIds>
  readonly witness: Witness
  readonly executions: Executions
  /** The effect id of each effect of a step. */
  readonly effects: string[]
  /** The code and the versions that the next process registers. */
  deployed: Deployment
  /** Every code that was deployed. */
  readonly deployments: Code[]
  isDown: boolean
  readonly visits: Map<string, number>
  /** Crashes at this commit of the history, counted over all processes. */
  crashCommit: { readonly commit: number; readonly point: CrashPoint } | undefined
  /** The process that first commits this crashes. */
  crashKind: { readonly kind: CommitKind; readonly point: CrashPoint } | undefined
  commits: number
  /** The kind of each commit at which a process crashed. */
  readonly crashedAt: Set<string>
  /** Errors logged by the engine, other than those of the code of runs. */
  readonly faults: unknown[]
  /** Increases whenever a process accesses the storage or a timer fires. */
  activity: number
  pending: number
}

export function createEnvironment(storage: Storage): Environment {
  const witness = createWitness()
  return {
    storage: withWitness(storage, witness),
    witness,
    executions: createExecutions(),
    ...{ clock: createManualClock(), ids: createSequenceIds(), effects: [], faults: [] },
    deployed: { code: FIRST_CODE, versions: FIRST_VERSIONS },
    deployments: [FIRST_CODE],
    ...{
      isDown: false,
      visits: new Map(),
      crashCommit: undefined,
      crashKind: undefined,
      commits: 0,
      crashedAt: new Set(),
    },
    ...{ activity: 0, pending: 0 },
  }
}

/** Errors that the random code of a run causes; the outcome of the run is checked elsewhere. */
const EXPECTED_LINES: ReadonlySet<string> = new Set(['event refused', 'run failed'])

const never = new Promise<never>(() => undefined)

export function startProcess(environment: Environment): Process {
  const { clock, ids, effects, faults, executions, deployed } = environment
  let isAlive = true
  let crashCommit = Number.POSITIVE_INFINITY
  let commits = 0
  let crashPoint: CrashPoint = 'before'

  /** The point of this commit at which the process crashes, if it does. */
  const crashOf = (kind: CommitKind): CrashPoint | undefined => {
    const { crashCommit: planned, crashKind: aim } = environment
    commits++
    environment.commits++
    if (planned?.commit === environment.commits) return planned.point
    if (kind !== aim?.kind) return commits === crashCommit ? crashPoint : undefined
    environment.crashKind = undefined
    return aim.point
  }

  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!isAlive) return never
    environment.activity++
    environment.pending++
    try {
      const done = await work()
      return isAlive ? done : never
    } catch (error) {
      if (isAlive) throw error
      return never
    } finally {
      environment.pending--
    }
  }
  const guardedPort = <T extends object>(port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, method]) => [name, (...args: unknown[]) => guarded(() => method(...args))]),
    ) as T

  const unitOfWork: Storage['unitOfWork'] = {
    commit(writes) {
      if (!isAlive) return never
      const kind = kindOf(writes)
      const crash = crashOf(kind)
      if (crash !== undefined) environment.crashedAt.add(`${crash} ${kind}`)
      if (crash === 'before') isAlive = false
      return guarded(async () => {
        const outcome = await environment.storage.unitOfWork.commit(writes)
        if (outcome.committed) noteActions(executions, writes)
        if (crash !== undefined) isAlive = false
        return outcome
      })
    },
  }

  const timers: Timers = {
    after: (ms, fn) =>
      clock.after(ms, () => {
        if (!isAlive) return
        environment.activity++
        fn()
      }),
  }
  const outside: Outside = {
    after: (ms) => new Promise<void>((resolve) => void timers.after(ms, resolve)),
    effect: (idempotencyKey) => void (isAlive && effects.push(idempotencyKey)),
    isDown: () => environment.isDown,
    visit(runId, path) {
      const id = `${runId} ${path}`
      const visits = (environment.visits.get(id) ?? 0) + (isAlive ? 1 : 0)
      environment.visits.set(id, visits)
      return visits
    },
    versionOf(runId, answer) {
      if (!isAlive) return
      const { versioned, calls } = environment.witness
      const recorded = calls.get(versioned.get(runId) ?? '')?.result
      const isRecorded = recorded !== undefined
      if (isRecorded && recorded !== String(answer.version))
        executions.misplaced.push(`${runId} is answered ${answer.version}, but version ${recorded} is recorded`)
      executions.pending.set(runId, [...(executions.pending.get(runId) ?? []), { ...answer, isRecorded }])
    },
  }
  const codeOfVersion = (version: string | undefined) => {
    const code = codeOf(version, deployed.code)
    return async (input: unknown, context: RunContext) => {
      const { runId, attempt } = context
      if (isAlive) noteExecution(executions, environment.witness, { runId, version, code })
      try {
        return await execute({ program: (input as Input).program, code, context, outside })
      } catch (error) {
        if (isAlive) executions.thrown.push({ runId, attempt, isFinal: error instanceof NonRetryableError })
        throw error
      }
    }
  }
  const ignore = () => undefined
  const logger: Logger = {
    ...{ debug: ignore, info: ignore, warn: ignore },
    error: (...fault) => void (isAlive && !EXPECTED_LINES.has(fault[0]) && faults.push(fault)),
  }

  const { storage } = environment
  const agents = createAgentRegistry()
  const workflows = createWorkflowRegistry()
  for (const [id, options] of Object.entries(AGENTS))
    for (const given of versionsOf(deployed, id))
      agents.register(agentOf(id, codeOfVersion(given.version), { ...options, ...given }))
  for (const [id, options] of Object.entries(WORKFLOWS))
    for (const given of versionsOf(deployed, id))
      workflows.register(workflowOf(id, codeOfVersion(given.version), { ...options, ...given }))
  const phase = createPhase()
  phase.enter('ready')
  const settleKeys = (runId: string) => engine.settleKeys(runId)
  const recall = createRecall({ idempotency: guardedPort(storage.idempotency), clock, settleKeys })
  const engine: Engine = createEngine({
    recall,
    ...{ clock, timers, ids, logger, meter: noMeter, agents, workflows, phase, basePath: '/v1' },
    ...{ digest: testDigest, yieldTurn },
    services: () => ({}) as RunServices,
    render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }),
    runs: guardedPort(storage.runs),
    ...{ runTimers: guardedPort(storage.runTimers), lanes: guardedPort(storage.lanes) },
    events: guardedPort(storage.events),
    ...{ sessions: guardedPort(storage.sessions), chats: guardedPort(storage.chats) },
    ...{ steps: guardedPort(storage.steps), approvals: guardedPort(storage.approvals) },
    emissions: guardedPort(storage.emissions),
    unitOfWork: publishing(unitOfWork, { hub: createEventHub() }),
    limits: {
      ...{ concurrency: CONCURRENCY, maxQueued: 6, maxResultBytes: 100_000, maxEventBytes: 200 },
      ...{ abortGraceMs: ABORT_GRACE_MS, idempotencyTtlMs: 86_400_000_000, wakesPerCommit: 1 },
    },
  })
  return {
    engine,
    recall,
    enter: phase.enter,
    isAlive: () => isAlive,
    kill() {
      isAlive = false
    },
    crashAt(commit, point) {
      crashCommit = commits + commit
      crashPoint = point
    },
  }
}

/** Runs until no work is pending, without moving the clock. */
export async function quiesce(environment: Environment): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    const before = environment.activity
    environment.clock.advance(0)
    await new Promise<void>((resolve) => setImmediate(resolve))
    quiet = environment.activity === before && environment.pending === 0 ? quiet + 1 : 0
  }
}

export const allRuns = async ({ storage }: Environment): Promise<readonly RunRecord[]> =>
  (await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items

export const stepsOf = ({ storage }: Environment, { id }: RunRecord): Promise<readonly StepRecord[]> =>
  storage.steps.list(id)
