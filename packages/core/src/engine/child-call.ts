import { AppError, type JsonText, NO_USAGE, type RunRecord, type StepRecord, toJsonText } from '@perdure/ports'
import type { CallScope } from '../durable/call-scope.ts'
import { jsonProblem } from '../durable/check-approval-options.ts'
import { refuseProblems } from '../durable/check-options.ts'
import { callWait } from '../durable/wait-call.ts'
import { childEvent, lifecycleEvent } from '../runs/run-events.ts'
import { checkInput } from '../targets/check-input.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { childLimits } from './child-limits.ts'
import { flowKeysOf, withoutDebounce } from './flow-keys.ts'

export interface CallChildDeps {
  readonly targets: RunTargets
  /** Executes a run whose record is committed as queued. */
  readonly relaunch: (run: RunRecord) => void
}

/** `ctx.agents.run`. Resolves with the record of the parent's call once the child has ended. */
export type CallChild = (scope: CallScope, agentId: string, input: unknown) => Promise<StepRecord>

const MAX_DEPTH = 8

/** Runs an agent as a child. One commit stores the child and the parent's wait; the end of the child ends the wait. */
export function createCallChild({ targets, relaunch }: CallChildDeps): CallChild {
  return async (scope, agentId, input) => {
    const { run, budget, ledger } = scope
    // The agent is checked first, so that a rejected call takes no sequence number.
    const agent = agentFor(targets, run, agentId)
    const parsing = checkedInput(scope, agent, input)
    const parsed = parsing instanceof Promise ? await ledger.busy(() => parsing) : parsing
    const ended = await callWait(scope, { kind: 'child', name: agentId }, (seq) => {
      const child = childOf(scope, agent, { seq, ...parsed })
      return {
        detail: { childRunId: child.id },
        writes: [insertRun(targets, child)],
        events: [
          lifecycleEvent(child, 'run.queued', { at: child.createdAt }),
          childEvent(run, 'run.child.started', { child, at: child.createdAt }),
        ],
        onRecorded: () => {
          relaunch(child)
          if (child.deadlineAt !== undefined) scope.onDue(child.deadlineAt)
        },
      }
    })
    budget.checkChild(ended)
    return ended
  }
}

/** @throws AppError `budget-exhausted` when the parent has no budget left */
function childOf(
  { run, ids, clock, budget, span }: CallScope,
  agent: RunTarget,
  { seq, input, value }: ParsedInput & { readonly seq: number },
): RunRecord {
  budget.checkLeft()
  const { sessionId, owner, userId, depth, metadata, priority } = run
  const traceparent = span.traceparent ?? run.traceparent
  const createdAt = clock.now()
  return {
    id: ids.newId('run'),
    kind: 'agent',
    targetId: agent.id,
    version: agent.version,
    ...{ sessionId, owner, userId, traceparent, metadata, priority },
    flow: withoutDebounce(flowKeysOf(agent, { sessionId, owner, userId, metadata }, value)),
    ...childLimits(run, agent.budget, createdAt),
    status: 'queued',
    input,
    usage: NO_USAGE,
    attempt: 1,
    execution: 0,
    timeoutMs: agent.timeoutMs,
    parentRunId: run.id,
    parentSeq: seq,
    depth: depth + 1,
    createdAt,
  }
}

interface ParsedInput {
  readonly input: JsonText
  readonly value: unknown
}

/** The input, parsed by the agent's schema. @throws AppError `invalid-input`, `validation-failed` */
function checkedInput(scope: CallScope, agent: RunTarget, input: unknown): ParsedInput | Promise<ParsedInput> {
  const name = `the input of the agent ${agent.id}`
  const toParsed = (value: unknown): ParsedInput => {
    refuseProblems('ctx.agents.run', [jsonProblem(name, value, scope.maxResultBytes)])
    return { input: toJsonText(value), value }
  }
  const checked = checkInput(agent, input)
  return checked instanceof Promise ? checked.then(toParsed) : toParsed(checked)
}

/** @throws AppError `step-failed` at the maximum depth, `agent-not-found` */
function agentFor(targets: RunTargets, run: RunRecord, agentId: string): RunTarget {
  const agent = targets.find('agent', agentId)
  if (run.depth >= MAX_DEPTH)
    throw new AppError('step-failed', { message: `child runs nest at most ${MAX_DEPTH} levels deep` })
  if (agent === undefined) throw new AppError('agent-not-found', { message: `no agent has the id ${agentId}` })
  return agent
}
