import { fromJsonText, type JsonText, type RunBudget, type StepRecord } from '@perdure/ports'
import { BUDGET_CALL } from '../../runs/budget-error.ts'
import { approvalRequest } from '../approvals/approval-request.ts'
import { askedHashOf } from '../approvals/asked-hash.ts'
import type { CallScope } from '../call-scope.ts'
import { callWait } from '../wait-call.ts'
import type { Exceeded } from './run-budget.ts'

/**
 * Call it before a call that can cost something. If a budget with `onExceeded: 'ask'` is used up, the call has to wait until
 * a person approves that the run goes on; `undefined` if it need not. The request is a durable call of its own, so a
 * crash at any moment asks no second time, and calls that are made meanwhile wait for the same decision.
 *
 * @throws PerdureError `budget-exhausted` when the request was denied
 */
export function passBudget(scope: CallScope, isToolCall: boolean): Promise<void> | undefined {
  const { budget, ledger, budgetRequest } = scope
  const { pending } = budgetRequest
  if (pending !== undefined) return pending.then(() => passBudget(scope, isToolCall))
  const isRecorded = ledger.isNextRecorded('approval', BUDGET_CALL)
  // While other recorded calls remain, the requests among them have not raised the budget yet.
  if (!isRecorded && (ledger.isReplaying() || budget.exceeded(isToolCall).length === 0)) return undefined
  const asking = ask(scope, isToolCall).finally(() => {
    budgetRequest.pending = undefined
  })
  budgetRequest.pending = asking
  return asking
}

async function ask(scope: CallScope, isToolCall: boolean): Promise<void> {
  const { budget, digest } = scope
  const ended = await callWait(scope, { kind: 'approval', name: BUDGET_CALL }, (seq, refused) => {
    const exceeded = budget.exceeded(isToolCall)
    const payload = { budgets: exceeded.map(({ limit: _, ...shown }) => shown) }
    const title = titleOf(scope, exceeded)
    const replaces = refused?.approvalId
    const { approval, events } = approvalRequest(scope, { name: BUDGET_CALL, seq, title, payload, replaces })
    return {
      detail: {
        approvalId: approval.id,
        askedHash: askedHashOf(digest, { payload }),
        eventName: `${MARK}${JSON.stringify(exceeded.map(({ runId, newLimits }) => ({ runId, newLimits })))}`,
      },
      writes: [{ type: 'approval.insert', approval }],
      events,
    }
  })
  const raises = raisesIn(ended)
  if (isApproved(ended)) for (const { runId, newLimits } of raises) budget.raise(runId, newLimits)
  else budget.refuse(raises[0]?.runId ?? scope.run.id)
}

const titleOf = ({ run }: CallScope, exceeded: readonly Exceeded[]): string =>
  `Let ${run.targetId} go on? Its budget is used up: ${exceeded.map(({ limit }) => limit).join(', ')}.`

/** The record of the call holds what an approval allows, so that it counts again after a crash. */
const MARK = 'budget '

interface Raise {
  readonly runId: string
  readonly newLimits: RunBudget
}

const raisesIn = ({ eventName = '' }: StepRecord): readonly Raise[] =>
  eventName.startsWith(MARK) ? (fromJsonText(eventName.slice(MARK.length) as JsonText) as readonly Raise[]) : []

const isApproved = ({ result }: StepRecord): boolean =>
  result !== undefined && (fromJsonText(result) as { readonly approved?: unknown }).approved === true
