import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import {
  type AgentRegistration,
  type ApprovalResource,
  createPhase,
  type EventEnvelope,
  type RunRequestBody,
  type RunResource,
  type SubmittedDecision,
  textOfItem,
  type WorkflowRegistration,
} from '@perdure/core'
import { EVERY_ROW, fromJsonText, type JsonText, type Logger, noTracer } from '@perdure/ports'
import { DURATION_FORMS, type Duration, type ResultOf, type SentTo, toMilliseconds } from '@perdure/protocol'
import { createAttribution } from '../compose/attribution.ts'
import type { Composition } from '../compose/compose.ts'
import { parseConfig } from '../config.ts'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from '../start/adapters.ts'
import { readMcpServers } from '../start/mcp-servers.ts'
import { validateBeforeBind } from '../start/pre-bind.ts'
import { createRegisteredSkills } from '../start/registered-skills.ts'
import { createRegistries } from '../start/registries.ts'
import { createMovableClock, type MovableClock } from './movable-clock.ts'

export interface RunAgentOptions
  extends Pick<ServerOptions, 'config' | 'agents' | 'workflows' | 'skills' | 'mcpServers' | 'embedder' | 'adapters'> {
  /** The other fields of the run request: `sessionId`, `userId`, `metadata`, `budget`, `timeoutMs`, `threadId`. */
  readonly request?: Omit<RunRequestBody, 'input'>
  /** Owner of the run: the subject that the caller's token would have. Defaults to `test`. */
  readonly owner?: string
  /** Start of the clock, which then runs and can be advanced with `advance`. Defaults to 2025-01-01. */
  readonly now?: Date
}

/**
 * A snapshot of a run in a test. Each method acts on the run and resolves to a new snapshot once the run has ended or
 * waits for something outside.
 */
export interface TestRun<Result = unknown> extends Omit<RunEnding, 'error' | 'result'> {
  /** The result of a completed run. */
  readonly result?: Result | undefined
  readonly runId: string
  /**
   * What the code of a failed run threw, so that a test can check it and a debugger can show its stack. For a step that
   * failed, this is the error `step-failed`; its `cause` is what the step threw. Missing when the code threw nothing, for
   * example after a timeout: `outcome.error` then says why the run failed.
   */
  readonly error: unknown
  /** The run as the server stores and shows it. `outcome.error` has the code and the message of the error. */
  readonly outcome: RunEnding
  /** What a suspended run is waiting for. */
  readonly waitingFor: readonly { readonly kind: string; readonly name: string }[]
  /** Pending approvals of the run and of its child runs. */
  readonly approvals: readonly ApprovalResource[]
  /** The events of the run so far, in order. */
  readonly events: readonly { readonly type: string; readonly payload: unknown }[]
  /** Decides the pending approval with that name. @throws Error if no such approval is pending */
  decide(name: string, decision: SubmittedDecision): Promise<TestRun<Result>>
  /** Emits a named event, as `POST /events/:name` does. */
  emit(name: string, payload?: unknown): Promise<TestRun<Result>>
  /** Advances the clock, and ends the durable waits and retry delays that become due. */
  advance(duration: Duration): Promise<TestRun<Result>>
}

type RunEnding = Pick<RunResource, 'status' | 'finishReason' | 'result' | 'error' | 'usage'>

/**
 * Runs an agent in a test, in this process. Everything is real except the storage, which is in memory, and the clock.
 * There is no listener and nothing to close. Resolves when the run and its child runs have ended or wait for something
 * outside.
 *
 * @throws PerdureError that the server would answer, such as `invalid-input`; StartError `config-invalid`
 */
export function runAgent<const Agent extends AgentRegistration>(
  agent: Agent,
  ...[input, options = {}]: CallOf<Agent>
): Promise<TestRun<ResultOf<Agent>>> {
  const agents = [agent, ...(options.agents ?? [])]
  return runInMemory({ kind: 'agent', id: agent.id }, input, { ...options, agents }) as Promise<
    TestRun<ResultOf<Agent>>
  >
}

/** Like `runAgent`, for a workflow. Pass the agents and workflows that it invokes in the options. */
export function runWorkflow<const Workflow extends WorkflowRegistration>(
  workflow: Workflow,
  ...[input, options = {}]: CallOf<Workflow>
): Promise<TestRun<ResultOf<Workflow>>> {
  const workflows = [workflow, ...(options.workflows ?? [])]
  const run = runInMemory({ kind: 'workflow', id: workflow.id }, input, { ...options, workflows })
  return run as Promise<TestRun<ResultOf<Workflow>>>
}

/** The input that a definition requires, and the options. */
type CallOf<Registration> =
  undefined extends SentTo<Registration>
    ? [input?: SentTo<Registration>, options?: RunAgentOptions]
    : [input: SentTo<Registration>, options?: RunAgentOptions]

type Target = { readonly kind: 'agent' | 'workflow'; readonly id: string }

async function runInMemory(target: Target, input: unknown, options: RunAgentOptions): Promise<TestRun> {
  const world = await openWorld(options)
  const { engine } = world.composition
  await engine.start()
  const accepted = await engine.startRun({
    target,
    body: { ...options.request, input },
    principal: { subject: options.owner ?? 'test', scopes: ['admin:*'] },
    answer: 'accepted',
  })
  return snapshotOf(world, accepted.runId as string)
}

interface World {
  readonly composition: Composition
  readonly clock: MovableClock
  /** What the code of failed runs threw, by run id. */
  readonly thrown: ReadonlyMap<string, unknown>
}

async function openWorld(options: RunAgentOptions): Promise<World> {
  // Loaded on use: modules that several entries of this package import statically are loaded by a server at its start.
  const [{ compose }, { createInMemoryBlobStore, createInMemoryStorage }] = await Promise.all([
    import('../compose/compose.ts'),
    import('@perdure/in-memory'),
  ])
  const config = parseConfig({ auth: { kind: 'none' }, log: { level: 'error' }, ...options.config })
  const clock = createMovableClock((options.now ?? new Date(DEFAULT_START_MS)).getTime())
  const storage = createInMemoryStorage()
  const platform = createPlatform(config, process.cwd(), { clock, timers: clock, ...options.adapters })
  const phase = createPhase()
  const attribution = createAttribution()
  const composition = compose({
    ...createRegistries(options, attribution),
    config,
    attribution,
    phase,
    vitals: NO_VITALS,
    auditLocation: {},
    cipher: undefined,
    adapters: {
      storage,
      blobs: createInMemoryBlobStore(platform),
      tracer: noTracer,
      ...platform,
      logger: withoutFailedRuns(platform.logger),
      ...options.adapters,
    },
    secrets: await validateBeforeBind(config, platform),
    embedder: options.embedder,
    consolidator: {},
    registeredSkills: createRegisteredSkills(options.skills ?? []),
    mcpServers: readMcpServers(options.mcpServers ?? []),
  })
  const thrown = new Map<string, unknown>()
  composition.engine.observeRuns(({ id }, info) => thrown.set(id, info.thrown))
  phase.enter('ready')
  return { composition, clock, thrown }
}

/** A test gets what a failed run threw as `error`, and expects some runs to fail. */
const withoutFailedRuns = (logger: Logger): Logger => ({
  ...logger,
  error(message, ...detail) {
    if (message !== 'run failed') logger.error(message, ...detail)
  },
})

const DEFAULT_START_MS = Date.UTC(2025, 0, 1)
const NO_VITALS = { eventLoopDelaySeconds: () => 0, residentMemoryBytes: () => 0, close: () => undefined }

/** Waits until nothing is executing, then returns the state of the run. */
async function snapshotOf(world: World, runId: string): Promise<TestRun> {
  const { engine } = world.composition
  await idle(world)
  const { status, finishReason, result, error, usage } = await engine.readRuns.get(runId, EVERY_ROW)
  const outcome = fromJsonText((await engine.readRuns.outcome(runId, EVERY_ROW)).json as JsonText)
  const approvals = await engine.readApprovals.list({ status: 'pending' }, WHOLE_PAGE, EVERY_ROW)
  const snapshotAfter = async (action: unknown) => {
    await action
    return snapshotOf(world, runId)
  }
  return {
    ...{ runId, status, finishReason, result, usage },
    error: world.thrown.get(runId),
    outcome: { status, finishReason, result, error, usage },
    waitingFor: (outcome as Partial<Pick<TestRun, 'waitingFor'>>).waitingFor ?? [],
    approvals: approvals.items,
    events: await eventsOf(world, runId),
    async decide(name, decision) {
      const open = approvals.items.find((approval) => approval.name === name)
      if (open === undefined) {
        const names = approvals.items.map((approval) => approval.name).join(', ')
        throw new Error(`approval ${name} is not pending; pending: ${names || 'none'}`)
      }
      return snapshotAfter(
        engine.resolveApproval({ ...decision, approvalId: open.id, by: 'decider', visibility: EVERY_ROW }),
      )
    },
    emit: (name, payload) => snapshotAfter(engine.emitEvent({ name, payload })),
    advance: (duration) => snapshotAfter(world.clock.pass(msOf(duration))),
  }
}

/** A duration of the author API in milliseconds. */
/** @throws RangeError for a value that is not a duration */
function msOf(duration: Duration): number {
  const milliseconds = toMilliseconds(duration)
  if (milliseconds === undefined) throw new RangeError(`advance: the duration must be ${DURATION_FORMS}`)
  return milliseconds
}

const WHOLE_PAGE = { limit: 200, order: 'asc' } as const

async function eventsOf({ composition }: World, runId: string): Promise<TestRun['events']> {
  const events: TestRun['events'][number][] = []
  let cursor: string | undefined
  do {
    const page = await composition.engine.readRuns.events(runId, { ...WHOLE_PAGE, cursor }, EVERY_ROW)
    for (const item of page.items) {
      const { type, payload } = fromJsonText(await textOfItem(item)) as EventEnvelope
      events.push({ type, payload })
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return events
}

/** Resolves when no run executes or is about to execute. */
async function idle({ composition, clock }: World): Promise<void> {
  for (let quietTurns = 0; quietTurns < QUIET_TURNS; quietTurns++) {
    await turn()
    clock.pass(0)
    const { executing, queued } = composition.engine.readLoad()
    if (executing.agent + executing.workflow + queued === 0) continue
    await pause(1)
    quietTurns = 0
  }
}

/**
 * Runs count as idle after this many consecutive turns of the event loop without an executing or queued run: the
 * follow-up work of a run may need several turns to start another run.
 */
const QUIET_TURNS = 12
