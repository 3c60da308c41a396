import {
  type JsonText,
  NO_USAGE,
  perdureError,
  type RunKind,
  type RunRecord,
  type StepRecord,
  toJsonText,
} from '@perdure/ports'
import { passBudget } from '../durable/budget-gate.ts'
import type { CallScope } from '../durable/call-scope.ts'
import { jsonProblem } from '../durable/check-approval-options.ts'
import { refuseProblems } from '../durable/check-options.ts'
import { callWait } from '../durable/wait-call.ts'
import { childEvent, lifecycleEvent } from '../runs/run-events.ts'
import { checkInput } from '../targets/check-input.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { Invocable } from '../targets/invocable.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { childLimits } from './child-limits.ts'
import { flowKeysOf, withoutDebounce } from './flow-keys.ts'
import { keepShownFiles } from './run-file-writes.ts'

export interface CallChildDeps {
  readonly targets: RunTargets
  /** Executes a run whose record is committed as queued. */
  readonly relaunch: (run: RunRecord) => void
}

/** `ctx.invoke`. Resolves with the record of the parent's call once the child has ended. */
export type CallChild = (scope: CallScope, invoked: string | Invocable, input: unknown) => Promise<StepRecord>

const MAX_DEPTH = 8

/** Runs an agent or workflow as a child. One commit stores the child and the parent's wait; the end of the child ends the wait. */
export function createCallChild({ targets, relaunch }: CallChildDeps): CallChild {
  return async (scope, invoked, input) => {
    const { run, budget, ledger } = scope
    // The target is checked first, so that a rejected call takes no sequence number.
    const target = targetFor(targets, run, invoked)
    const parsing = checkedInput(scope, target, input)
    const parsed = parsing instanceof Promise ? await ledger.busy(() => parsing) : parsing
    const waiting = passBudget(scope, false)
    if (waiting !== undefined) await waiting
    const ended = await callWait(scope, { kind: 'child', name: target.id }, (seq) => {
      const child = childOf(scope, target, { seq, ...parsed })
      return {
        detail: { childRunId: child.id },
        writes: [insertRun(targets, child), ...keepShownFiles(child.id, child)],
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

/** @throws PerdureError `budget-exhausted` when the parent has no budget left */
function childOf(
  { run, ids, clock, budget, span }: CallScope,
  target: RunTarget,
  { seq, input, value }: ParsedInput & { readonly seq: number },
): RunRecord {
  budget.checkLeft()
  const { sessionId, owner, caller, userId, depth, metadata, priority } = run
  const traceparent = span.traceparent ?? run.traceparent
  const createdAt = clock.now()
  return {
    id: ids.newId('run'),
    kind: target.kind,
    targetId: target.id,
    version: target.version,
    threadId: target.kind === 'workflow' ? ids.newId('thread') : undefined,
    ...{ sessionId, owner, caller, userId, traceparent, metadata, priority },
    flow: withoutDebounce(flowKeysOf(target, { sessionId, owner, userId, metadata }, value)),
    ...childLimits(run, target.budget, createdAt),
    status: 'queued',
    input,
    usage: NO_USAGE,
    attempt: 1,
    execution: 0,
    timeoutMs: target.timeoutMs,
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

/** The input, parsed by the schema of the target. @throws PerdureError `invalid-input`, `validation-failed` */
function checkedInput(scope: CallScope, target: RunTarget, input: unknown): ParsedInput | Promise<ParsedInput> {
  const name = `the input of the ${target.kind} ${target.id}`
  const toParsed = (value: unknown): ParsedInput => {
    refuseProblems('ctx.invoke', [jsonProblem(name, value, scope.maxResultBytes)])
    return { input: toJsonText(value), value }
  }
  const checked = checkInput(target, input)
  return checked instanceof Promise ? checked.then(toParsed) : toParsed(checked)
}

/** @throws PerdureError `step-failed` at the maximum depth, `agent-not-found`, `workflow-not-found`, `version-unknown` */
function targetFor(targets: RunTargets, run: RunRecord, invoked: string | Invocable): RunTarget {
  if (run.depth >= MAX_DEPTH)
    throw perdureError('step-failed', { message: `child runs nest at most ${MAX_DEPTH} levels deep` })
  if (typeof invoked === 'string') return targetOfId(targets, invoked)
  const isDefinition = DEFINED.includes(invoked?.kind) && typeof invoked.id === 'string'
  refuseProblems('ctx.invoke', [isDefinition ? undefined : 'its first argument must be a definition or an id'])
  const { kind, id, version } = invoked
  if (targets.find(kind, id) !== undefined) return targets.get(kind, id, version)
  throw notFound(kind, id)
}

const DEFINED: readonly unknown[] = ['agent', 'workflow']

function targetOfId(targets: RunTargets, id: string): RunTarget {
  const agent = targets.find('agent', id)
  const workflow = targets.find('workflow', id)
  refuseProblems('ctx.invoke', [
    agent && workflow ? `${id} is an agent and a workflow; pass the definition instead of the id` : undefined,
  ])
  const target = agent ?? workflow
  if (target === undefined) throw notFound('agent', id)
  return target
}

const notFound = (kind: RunKind, id: string) =>
  perdureError(`${kind}-not-found`, {
    message: `no ${kind} has the id ${id}`,
    hint: `add it to the ${kind}s of the configuration`,
  })
