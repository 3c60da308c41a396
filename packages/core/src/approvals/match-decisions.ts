import { type ApprovalRecord, type ApprovalStore, EVERY_ROW, perdureError, type RunRecord } from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import type { SubmittedDecision } from './decision.ts'
import { mayDecide } from './may-decide.ts'

/** A decision that names its approval by id or by the tool call that requested it. */
export interface DecisionRef extends SubmittedDecision {
  readonly id?: string | undefined
  readonly toolCallId?: string | undefined
}

export interface MatchedDecision {
  readonly approval: ApprovalRecord
  readonly decision: SubmittedDecision
}

interface Request {
  readonly run: RunRecord
  readonly principal: Principal
}

/**
 * Finds the approval of each decision.
 *
 * @throws PerdureError `validation-failed` for a decision without exactly one of `id` and `toolCallId`, or two decisions on
 *   the same approval; `approval-not-found`; `scope-denied` if the principal may not decide one of them
 */
export async function matchDecisions(
  { approvals }: { readonly approvals: ApprovalStore },
  { run, principal }: Request,
  decisions: readonly DecisionRef[],
): Promise<readonly MatchedDecision[]> {
  const matched = await Promise.all(
    decisions.map(async (decision) => ({ decision, approval: await find(approvals, run, decision) })),
  )
  const ids = new Set(matched.map(({ approval }) => approval.id))
  if (ids.size < matched.length)
    throw perdureError('validation-failed', { message: 'approvals: two decisions name the same approval' })
  for (const { approval } of matched) await requireMayDecide(approvals, principal, approval)
  return matched
}

async function find(
  approvals: ApprovalStore,
  run: RunRecord,
  { id, toolCallId }: DecisionRef,
): Promise<ApprovalRecord> {
  if ((id === undefined) === (toolCallId === undefined)) {
    throw perdureError('validation-failed', { message: 'approvals: each decision needs either id or toolCallId' })
  }
  const approval = id === undefined ? await newestOf(approvals, run, toolCallId) : await approvals.find(id, EVERY_ROW)
  if (approval?.runId === run.id) return approval
  throw perdureError('approval-not-found', {
    message: `the run has no approval ${id ?? `for the tool call ${toolCallId}`}`,
  })
}

async function newestOf(approvals: ApprovalStore, { id: runId }: RunRecord, toolCallId: string | undefined) {
  const { items } = await approvals.list({ runId, toolCallId }, { limit: 1, order: 'desc' }, EVERY_ROW)
  return items[0]
}

/**
 * An approval of `ctx.suspend` needs only the right to resume the run. An approval requested by a call (`ctx.approval`,
 * `ctx.tool`, a step that asks to run again) also needs the scope for resolving the approval in the inbox.
 */
async function requireMayDecide(
  approvals: ApprovalStore,
  principal: Principal,
  approval: ApprovalRecord,
): Promise<void> {
  if (approval.seq === undefined || (await mayDecide(approvals, principal, approval.id))) return
  throw perdureError('scope-denied', { hint: `use a token with the scope approvals:resolve:${approval.id}` })
}
