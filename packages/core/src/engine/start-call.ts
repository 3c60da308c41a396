import { EVERY_ROW, perdureError, type RunRecord, type RunStore } from '@perdure/ports'
import type { CallScope } from '../durable/call-scope.ts'
import { checkMembers, refuseProblems } from '../durable/check-options.ts'
import { callTransaction } from '../durable/transaction-call.ts'
import { passBudget } from '../durable/usage/budget-gate.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { isTurn } from '../runs/turn.ts'
import { inputFromChat } from '../targets/input-from-chat.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { Invocable } from '../targets/invocable.ts'
import type { StartedRun, StartOptions } from '../targets/run-context.ts'
import type { RunTarget } from '../targets/run-target.ts'
import type { CallChildDeps } from './child-call.ts'
import { childLimits } from './child-limits.ts'
import { endAsChat } from './ended-run-message.ts'
import { checkedInput, childOf, invokedTarget, type ParsedInput } from './new-child.ts'
import { keepShownFiles } from './run-file-writes.ts'

export interface StartCallDeps extends CallChildDeps {
  readonly runs: Pick<RunStore, 'find'>
}

interface Starting {
  readonly input: unknown
  readonly options: StartOptions
}

/** `ctx.start`. Resolves once the started run is stored. */
export type CallStart = (scope: CallScope, invoked: string | Invocable, starting: Starting) => Promise<StartedRun>

/** Starts a run that outlives its parent. One commit stores it and the record of the call, so no crash starts it twice. */
export function createCallStart(deps: StartCallDeps): CallStart {
  const { targets, relaunch } = deps
  return async (scope, invoked, { input, options }) => {
    const { run, ledger } = scope
    checkMembers('ctx.start', options, ['onEnd'])
    refuseProblems('ctx.start', [onEndProblem(options)])
    const target = invokedTarget({ call: 'ctx.start', targets, run }, invoked)
    const parsing = checkedInput({ call: 'ctx.start', scope, target }, input)
    const parsed = parsing instanceof Promise ? await ledger.busy(() => parsing) : parsing
    const waiting = passBudget(scope, false)
    if (waiting !== undefined) await waiting
    return callTransaction(scope, `start ${target.id}`, async ({ seq }) => {
      const reportTo = options.onEnd === 'message' ? await agentToReportTo(deps, run) : undefined
      const started = backgroundRun(scope, target, { seq, ...parsed, reportTo })
      return {
        writes: [insertRun(targets, started), ...keepShownFiles(started.id, started)],
        events: [lifecycleEvent(started, 'run.queued', { at: started.createdAt })],
        value: { runId: started.id },
        onCommitted() {
          relaunch(started)
          if (started.deadlineAt !== undefined) scope.onDue(started.deadlineAt)
        },
      }
    })
  }
}

const onEndProblem = ({ onEnd }: StartOptions) =>
  onEnd === undefined || onEnd === 'message' ? undefined : "onEnd must be 'message'"

/** The deadline of the parent does not apply, because the run outlives it. The other limits do. */
function backgroundRun(
  scope: CallScope,
  target: RunTarget,
  { reportTo, ...child }: ParsedInput & { readonly seq: number; readonly reportTo: string | undefined },
): RunRecord {
  const run = childOf(scope, target, child)
  const { budget } = scope.run
  const limits = childLimits({ budget, deadlineAt: undefined }, target.budget, run.createdAt)
  return { ...run, ...limits, flow: { ...run.flow, background: { reportTo } } }
}

/**
 * The agent whose turn the run belongs to.
 *
 * @throws PerdureError `validation-failed` when there is none, or when it takes no messages
 */
async function agentToReportTo({ runs, targets }: StartCallDeps, run: RunRecord): Promise<string> {
  const turn = await rootOf(runs, run)
  if (!isTurn(turn)) {
    throw perdureError('validation-failed', {
      message: "ctx.start: onEnd: 'message' needs a conversation, and this run is not part of an agent's session",
      hint: 'start the run with a session, or leave onEnd out and use ctx.invoke to wait for the result',
    })
  }
  const agent = targets.find('agent', turn.targetId)
  if (agent !== undefined) await inputFromChat(agent, endAsChat({ ...run, status: 'completed' }, 0))
  return turn.targetId
}

async function rootOf(runs: Pick<RunStore, 'find'>, run: RunRecord): Promise<RunRecord> {
  const parent = run.parentRunId === undefined ? undefined : await runs.find(run.parentRunId, EVERY_ROW)
  return parent === undefined ? run : rootOf(runs, parent)
}
