import { type JsonText, NO_USAGE, perdureError, type RunKind, type RunRecord, toJsonText } from '@perdure/ports'
import { jsonProblem } from '../durable/approvals/check-approval-options.ts'
import type { CallScope } from '../durable/call-scope.ts'
import { refuseProblems } from '../durable/check-options.ts'
import { checkInput } from '../targets/check-input.ts'
import type { Invocable } from '../targets/invocable.ts'
import type { RunTarget, RunTargets } from '../targets/run-target.ts'
import { childLimits } from './child-limits.ts'
import { flowKeysOf, withoutDebounce } from './lanes/flow-keys.ts'

const MAX_DEPTH = 8

/** The record of a child that is to be queued. @throws PerdureError `budget-exhausted` when the parent has no budget left */
export function childOf(
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

export interface ParsedInput {
  readonly input: JsonText
  readonly value: unknown
}

interface ChildCall {
  /** Names the call in messages. */
  readonly call: 'ctx.invoke' | 'ctx.start'
  readonly scope: CallScope
  readonly target: RunTarget
}

/** The input, parsed by the schema of the target. @throws PerdureError `invalid-input`, `validation-failed` */
export function checkedInput({ call, scope, target }: ChildCall, input: unknown): ParsedInput | Promise<ParsedInput> {
  const name = `the input of the ${target.kind} ${target.id}`
  const toParsed = (value: unknown): ParsedInput => {
    refuseProblems(call, [jsonProblem(name, value, scope.maxResultBytes)])
    return { input: toJsonText(value), value }
  }
  const checked = checkInput(target, input)
  return checked instanceof Promise ? checked.then(toParsed) : toParsed(checked)
}

/** @throws PerdureError `step-failed` at the maximum depth, `agent-not-found`, `workflow-not-found`, `version-unknown` */
export function invokedTarget(
  { call, targets, run }: Pick<ChildCall, 'call'> & { readonly targets: RunTargets; readonly run: RunRecord },
  invoked: string | Invocable,
): RunTarget {
  if (run.depth >= MAX_DEPTH)
    throw perdureError('step-failed', { message: `child runs nest at most ${MAX_DEPTH} levels deep` })
  if (typeof invoked === 'string') return targetOfId(call, targets, invoked)
  const isDefinition = DEFINED.includes(invoked?.kind) && typeof invoked.id === 'string'
  refuseProblems(call, [isDefinition ? undefined : 'its first argument must be a definition or an id'])
  const { kind, id, version } = invoked
  if (targets.find(kind, id) !== undefined) return targets.get(kind, id, version)
  throw notFound(kind, id)
}

const DEFINED: readonly unknown[] = ['agent', 'workflow']

function targetOfId(call: ChildCall['call'], targets: RunTargets, id: string): RunTarget {
  const agent = targets.find('agent', id)
  const workflow = targets.find('workflow', id)
  refuseProblems(call, [
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
