import {
  type AgentRegistration,
  type ApprovalResource,
  type CallerFacts,
  type EventEnvelope,
  type RunRequestBody,
  type RunResource,
  type SubmittedDecision,
  textOfItem,
  toCallerText,
  type WorkflowRegistration,
} from '@perdure/core'
import { EVERY_ROW, fromJsonText, type JsonText } from '@perdure/ports'
import { ADMIN_SCOPE, type Duration, type ResultOf, type SentTo } from '@perdure/protocol'
import type { ServerOptions } from '../server-options.ts'
import { idle, msOf, openWorld, type World } from './world.ts'

export interface RunAgentOptions
  extends Pick<ServerOptions, 'config' | 'agents' | 'workflows' | 'skills' | 'mcpServers' | 'embedder' | 'adapters'> {
  /** The other fields of the run request: `sessionId`, `userId`, `metadata`, `budget`, `timeoutMs`, `threadId`. */
  readonly request?: Omit<RunRequestBody, 'input'>
  /** Owner of the run: the subject that the caller's token would have. Defaults to `test`. */
  readonly owner?: string
  /** What `ctx.caller` says about the owner. */
  readonly caller?: CallerFacts
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
    principal: { subject: options.owner ?? 'test', scopes: ['admin:*'], caller: toCallerText(options.caller ?? {}) },
    answer: 'accepted',
  })
  return snapshotOf(world, accepted.runId as string)
}

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
        const cause = world.thrown.get(runId)
        throw new Error(`approval ${name} is not pending; pending: ${names || 'none'}; the run is ${status}`, { cause })
      }
      return snapshotAfter(
        engine.resolveApproval({
          ...decision,
          approvalId: open.id,
          by: 'decider',
          scopes: [ADMIN_SCOPE],
          visibility: EVERY_ROW,
        }),
      )
    },
    emit: (name, payload) => snapshotAfter(engine.emitEvent({ name, payload })),
    advance: (duration) => snapshotAfter(world.clock.pass(msOf(duration))),
  }
}

const WHOLE_PAGE = { limit: 200, order: 'asc' } as const

/** All events of a run, in order. */
export async function eventsOf({ composition }: World, runId: string): Promise<TestRun['events']> {
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
