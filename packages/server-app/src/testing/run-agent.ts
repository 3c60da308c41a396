import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import {
  type AgentRegistration,
  type ApprovalResource,
  createPhase,
  type Decision,
  type RunRequestBody,
  type RunResource,
  type WorkflowRegistration,
} from '@perdure/core'
import { EVERY_ROW, fromJsonText, type JsonText, noTracer } from '@perdure/ports'
import { createPlatform } from './adapters.ts'
import { createAttribution } from './attribution.ts'
import type { Composition } from './compose.ts'
import { parseConfig } from './config.ts'
import { readMcpServers } from './mcp-servers.ts'
import { createMovableClock, type MovableClock } from './movable-clock.ts'
import { validateBeforeBind } from './pre-bind.ts'
import { createRegisteredSkills } from './registered-skills.ts'
import { createRegistries } from './registries.ts'
import type { ServerOptions } from './server-options.ts'

export interface RunAgentOptions
  extends Pick<ServerOptions, 'config' | 'agents' | 'workflows' | 'skills' | 'mcpServers' | 'embedder' | 'adapters'> {
  /** What a request says besides its input: `sessionId`, `userId`, `metadata`, `budget`, `timeoutMs`, `threadId`. */
  readonly request?: Omit<RunRequestBody, 'input'>
  /** Whose run it is, as the token of a caller would say; `test` when missing. */
  readonly owner?: string
  /** When it begins; 2025-01-01 when missing. The clock goes on from there, and can be moved. */
  readonly now?: Date
}

/** A run in a test: where it stands, and what may happen to it from outside. Each call answers where it stands then. */
export interface TestRun extends Pick<RunResource, 'status' | 'finishReason' | 'result' | 'error' | 'usage'> {
  readonly runId: string
  /** What a suspended run waits for. */
  readonly waitingFor: readonly { readonly kind: string; readonly name: string }[]
  /** Those that are open, of the runs that it has started too. */
  readonly approvals: readonly ApprovalResource[]
  /** Everything in its log so far, in order. */
  readonly events: readonly { readonly type: string; readonly payload: unknown }[]
  /** Decides the open approval of that name. @throws Error when none is open */
  decide(name: string, decision: Decision): Promise<TestRun>
  /** What `POST /events/:name` does. */
  emit(name: string, payload?: unknown): Promise<TestRun>
  /** Lets time go by at once: durable waits fall due, and pauses between tries end. */
  pass(ms: number): Promise<TestRun>
}

/**
 * For tests: runs an agent in this process with everything real but the storage, which is in memory, and the clock. There is
 * no listener and nothing to close. Resolves when the run, and every run it has started, has ended or waits for something outside.
 *
 * @throws AppError what the request would be refused with, such as `invalid-input`; StartError `config-invalid`
 */
export const runAgent = <Input>(agent: AgentRegistration<Input>, input?: unknown, options: RunAgentOptions = {}) =>
  runInMemory({ kind: 'agent', id: agent.id }, input, { ...options, agents: [agent, ...(options.agents ?? [])] })

/** The same for a workflow; the agents that it runs go into `options.agents`. */
export const runWorkflow = <Input>(
  workflow: WorkflowRegistration<Input>,
  input?: unknown,
  options: RunAgentOptions = {},
) =>
  runInMemory({ kind: 'workflow', id: workflow.id }, input, {
    ...options,
    workflows: [workflow, ...(options.workflows ?? [])],
  })

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
  return standing(world, accepted.runId as string)
}

interface World {
  readonly composition: Composition
  readonly clock: MovableClock
}

async function openWorld(options: RunAgentOptions): Promise<World> {
  // Nobody who starts a server needs these, and nobody who imports this has to load them.
  const [{ compose }, { createInMemoryStorage }] = await Promise.all([
    import('./compose.ts'),
    import('@perdure/in-memory'),
  ])
  const config = parseConfig({ auth: { kind: 'none' }, log: { level: 'error' }, ...options.config })
  const clock = createMovableClock((options.now ?? new Date(BEGINNING)).getTime())
  const storage = createInMemoryStorage()
  const platform = createPlatform(config, process.cwd(), { clock, timers: clock, ...options.adapters })
  const phase = createPhase()
  const attribution = createAttribution()
  const composition = compose({
    ...createRegistries(options, attribution),
    ...{ config, attribution, phase, vitals: NO_VITALS, auditPlace: {}, cipher: undefined },
    adapters: { storage, tracer: noTracer, ...platform, ...options.adapters },
    secrets: await validateBeforeBind(config, platform),
    ...{ embedder: options.embedder, consolidator: {} },
    registeredSkills: createRegisteredSkills(options.skills ?? []),
    mcpServers: readMcpServers(options.mcpServers ?? []),
  })
  phase.enter('ready')
  return { composition, clock }
}

const BEGINNING = Date.UTC(2025, 0, 1)
const NO_VITALS = { eventLoopDelaySeconds: () => 0, residentMemoryBytes: () => 0, close: () => undefined }

/** Where a run stands once nothing executes any more. */
async function standing(world: World, runId: string): Promise<TestRun> {
  const { engine } = world.composition
  await settled(world)
  const { status, finishReason, result, error, usage } = await engine.readRuns.get(runId, EVERY_ROW)
  const outcome = fromJsonText((await engine.readRuns.outcome(runId, EVERY_ROW)).json as JsonText)
  const approvals = await engine.readApprovals.list({ status: 'pending' }, WHOLE_PAGE, EVERY_ROW)
  const after = async (happening: unknown) => {
    await happening
    return standing(world, runId)
  }
  return {
    ...{ runId, status, finishReason, result, error, usage },
    waitingFor: (outcome as Partial<Pick<TestRun, 'waitingFor'>>).waitingFor ?? [],
    approvals: approvals.items,
    events: await eventsOf(world, runId),
    async decide(name, decision) {
      const open = approvals.items.find((approval) => approval.name === name)
      if (open === undefined) {
        const names = approvals.items.map((approval) => approval.name).join(', ')
        throw new Error(`no approval ${name} is open; open: ${names || 'none'}`)
      }
      return after(engine.resolveApproval({ ...decision, approvalId: open.id, by: 'decider', visibility: EVERY_ROW }))
    },
    emit: (name, payload) => after(engine.emitEvent({ name, payload })),
    pass: (ms) => after(world.clock.pass(ms)),
  }
}

const WHOLE_PAGE = { limit: 200, order: 'asc' } as const

async function eventsOf({ composition }: World, runId: string): Promise<TestRun['events']> {
  const events: TestRun['events'][number][] = []
  let cursor: string | undefined
  do {
    const page = await composition.engine.readRuns.events(runId, { ...WHOLE_PAGE, cursor }, EVERY_ROW)
    events.push(...page.items.map(({ type, payload }) => ({ type, payload })))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return events
}

/** Resolves when no run executes or is about to. */
async function settled({ composition, clock }: World): Promise<void> {
  for (let quietTurns = 0; quietTurns < QUIET_TURNS; quietTurns++) {
    await turn()
    clock.pass(0)
    const { executing, queued } = composition.engine.readLoad()
    if (executing.agent + executing.workflow + queued === 0) continue
    await pause(1)
    quietTurns = 0
  }
}

/** Of the event loop, with nothing to do: what the end of a run brings about is under way in between. */
const QUIET_TURNS = 12
