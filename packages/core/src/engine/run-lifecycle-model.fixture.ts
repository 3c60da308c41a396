import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type RunRecord, type Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import type { Reply } from '../idempotency/reply.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import type { RunContext } from '../targets/run-context.ts'
import type { ForkPoint } from './forks/fork-calls.ts'
import { ALICE, agentOf, createTestEngine, untilIdle } from './test-engine.fixture.ts'

/** Code of a run that executes until the test ends it. */
export interface Execution {
  readonly context: RunContext
  readonly end: PromiseWithResolvers<'finish'>
}

/** One process: its engine and its executions. After `kill` it writes nothing and receives no answer. */
export interface Process {
  readonly engine: ReturnType<typeof createTestEngine>
  readonly executions: Execution[]
  kill(): void
}

export const AGENTS = {
  parallel: {},
  single: { concurrency: 'single', onBusy: 'queue' },
  refusing: { concurrency: 'single', onBusy: 'reject' },
  latest: { concurrency: 'single', onBusy: 'interrupt' },
  resumable: { onCrash: 'retry', recoveries: 2 },
  timed: { timeout: 1_000 },
  durable: { onCrash: 'retry', recoveries: 2 },
  flaky: { onCrash: 'retry', recoveries: 2, retries: { max: 2, delay: 100, jitter: 'none' } },
} as const satisfies Record<string, Partial<RegistrationOptions>>

export type AgentId = keyof typeof AGENTS

interface Effect {
  readonly runId: string
  readonly attempt: number
}

/** Successive processes on one storage, the answers that callers received, and the effects on the outside world. */
export interface World {
  readonly storage: Storage
  readonly answers: { readonly key: string; readonly runId: string | undefined }[]
  readonly refusals: Set<string>
  /** The run and the attempt that caused each effect on the outside world. */
  readonly effects: readonly Effect[]
  /** The effects of the step of the durable agent. */
  readonly stepEffects: readonly Effect[]
  process: Process
  crash(): Promise<void>
  /** Crashes, and starts with the other code of the durable agent, which makes one more step or one step fewer. */
  deploy(): Promise<void>
  start(agentId: AgentId, key: string | undefined): Promise<void>
  fork(runId: string, from: ForkPoint): Promise<void>
  runs(): Promise<readonly RunRecord[]>
}

const never = new Promise<never>(() => undefined)

export function createWorld(): World {
  const storage = createInMemoryStorage()
  const effects: Effect[] = []
  const stepEffects: Effect[] = []
  const shared = { clock: createManualClock(), ids: createSequenceIds() }

  let isNewer = false
  const boot = (): Process => {
    const executions: Execution[] = []
    let isAlive = true
    /** A commit that finishes after `kill` stays stored, but its caller never gets the answer. */
    const whileAlive = async <T>(work: () => Promise<T>): Promise<T> => {
      const done = isAlive ? await work() : await never
      return isAlive ? done : never
    }
    const unitOfWork: Storage['unitOfWork'] = {
      commit: (writes) => whileAlive(() => storage.unitOfWork.commit(writes)),
    }
    const code = async (_: unknown, context: RunContext) => {
      const { runId, attempt } = context
      const end = Promise.withResolvers<'finish'>()
      if (context.agentId === 'durable' && isNewer) await context.step('check', () => null)
      if (context.agentId === 'durable' || context.agentId === 'flaky') {
        await context.step('effect', () => void stepEffects.push({ runId, attempt }))
        await context.sleep('rest', 500)
      }
      executions.push({ context, end })
      context.signal.addEventListener('abort', () => void context.emit('note.late', {}))
      context.emit('note.begin', {})
      await end.promise
      if (!isAlive) return never
      effects.push({ runId, attempt })
      context.emit('note.end', {})
      return attempt
    }
    const agents = Object.entries(AGENTS).map(([id, over]) => agentOf(id, code, over))
    const engine = createTestEngine({
      ...shared,
      agents,
      storage: { ...storage, unitOfWork },
      concurrency: 2,
      maxQueued: 3,
    })
    return {
      engine,
      executions,
      kill() {
        isAlive = false
      },
    }
  }

  const world: World = {
    storage,
    effects,
    stepEffects,
    answers: [],
    refusals: new Set(),
    process: boot(),
    async crash() {
      world.process.kill()
      await untilIdle() // pending commits finish before the next process opens the storage
      world.process = boot()
      await world.process.engine.recover()
      await world.process.engine.start()
    },
    async deploy() {
      isNewer = !isNewer
      await world.crash()
    },
    async start(agentId, key) {
      const { engine } = world.process
      const keyed = key === undefined ? {} : { key: { id: key, fingerprint: agentId }, body: { metadata: { key } } }
      const onReply = (reply: Reply) => {
        if (key !== undefined) world.answers.push({ key, runId: reply.runId })
      }
      await engine.run(agentId, keyed).then(onReply, (error: { readonly code?: string }) => {
        world.refusals.add(error.code ?? String(error))
      })
    },
    async fork(runId, from) {
      const { forkRun } = world.process.engine
      const how = { action: 'runs.fork', principal: ALICE, visibility: EVERY_ROW } as const
      await forkRun({ runId, from, ...how }).catch((error: { readonly code?: string }) => {
        world.refusals.add(error.code ?? String(error))
      })
    },
    async runs() {
      return (await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).items
    },
  }
  return world
}
